import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Choices, Option } from './popup.tsx'

export type { Option }

interface PickerProps<T extends string> {
  /** The accessible name of the choice. */
  label: string
  /** The options, or a function that returns them when the list opens. A page can have hundreds of pickers. */
  options: readonly Option<T>[] | (() => readonly Option<T>[])
  /** The selected values. */
  value?: T | readonly T[] | undefined
  onPick: (value: T) => void
  /** Loads further options for a text, also for the empty one when the list opens. */
  onSearch?: (text: string) => void
  /** The content of the button. */
  children: ComponentChildren
  /** Whether several options can be selected. The list then stays open. */
  isMultiple?: boolean
  isDisabled?: boolean
  /** Whether the button has no text. The label is then its accessible name. */
  isGlyph?: boolean
  class?: string
  /** The tooltip: the reason why it is disabled, or its action. */
  title?: string
}

/** The code of the open list. A picker that is pressed earlier loads it first. */
let popup: { Choices: typeof Choices } | undefined

export async function loadPopup(): Promise<void> {
  popup ??= await import('./popup.tsx')
}

/**
 * A button that opens a list of options. Keyboard: Enter or Space opens it,
 * the arrow keys move, Enter selects, Escape closes, and typing filters.
 */
export function Picker<T extends string>(props: PickerProps<T>) {
  const { label, options, value, onPick, children, isMultiple, isDisabled, isGlyph, title } = props
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`picker ${props.class ?? ''}`}
        aria-haspopup="listbox"
        aria-label={isGlyph ? label : undefined}
        aria-expanded={isOpen}
        title={title ?? label}
        disabled={isDisabled}
        onClick={(event) => {
          event.preventDefault()
          event.stopPropagation()
          if (isOpen || popup) setOpen(!isOpen)
          else void loadPopup().then(() => setOpen(true))
        }}
      >
        {/* The accessible name includes the visible text. Speech control needs this. */}
        {!isGlyph && <span class="hidden">{label}: </span>}
        {children}
      </button>
      {isOpen && popup && (
        <popup.Choices
          anchor={button.current!}
          label={label}
          options={typeof options === 'function' ? options() : options}
          chosen={value === undefined ? [] : Array.isArray(value) ? value : [value as T]}
          isMultiple={isMultiple ?? false}
          onSearch={props.onSearch}
          onClose={close}
          onPick={(picked) => {
            if (!isMultiple) close()
            onPick(picked)
          }}
        />
      )}
    </>
  )
}

/** A menu of actions. It has the same keys as a `Picker`, but no selection. */
export function Menu({
  label,
  items,
  children,
}: {
  label: string
  items: readonly MenuItem[]
  children: ComponentChildren
}) {
  return (
    <Picker
      label={label}
      class="button quiet bare"
      options={items.map(({ run, ...option }, index) => ({ ...option, value: String(index) }))}
      onPick={(index) => items[Number(index)]!.run()}
    >
      {children}
    </Picker>
  )
}

export interface MenuItem extends Omit<Option, 'value'> {
  run: () => void
}
