import { autoUpdate, computePosition, flip, offset, shift, size } from '@floating-ui/dom'
import check from 'lucide-static/icons/check.svg'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface Option<T extends string = string> {
  value: T
  label: string
  icon?: ComponentChildren
  /** A short text after the label. */
  note?: string
  isDisabled?: boolean
}

interface PickerProps<T extends string> {
  /** The accessible name of the choice. */
  label: string
  /** The options, or a function that returns them when the list opens. A page can have hundreds of pickers. */
  options: readonly Option<T>[] | (() => readonly Option<T>[])
  /** The selected values. */
  value?: T | readonly T[] | undefined
  onPick: (value: T) => void
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

/** The number of options from which a list has a filter field. */
const FILTERED_FROM = 8

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
          setOpen(!isOpen)
        }}
      >
        {/* The accessible name includes the visible text. Speech control needs this. */}
        {!isGlyph && <span class="hidden">{label}: </span>}
        {children}
      </button>
      {isOpen && (
        <Choices
          anchor={button.current!}
          label={label}
          options={typeof options === 'function' ? options() : options}
          chosen={value === undefined ? [] : Array.isArray(value) ? value : [value as T]}
          isMultiple={isMultiple ?? false}
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

interface ChoicesProps<T extends string> {
  anchor: HTMLElement
  label: string
  options: readonly Option<T>[]
  chosen: readonly T[]
  isMultiple: boolean
  onClose: () => void
  onPick: (value: T) => void
}

function Choices<T extends string>({ anchor, label, options, chosen, isMultiple, onClose, onPick }: ChoicesProps<T>) {
  const box = useRef<HTMLDivElement>(null)
  const [text, setText] = useState('')
  const found = options.filter((option) => option.label.toLowerCase().includes(text.toLowerCase()))
  const [active, setActive] = useState(() =>
    Math.max(
      0,
      options.findIndex(({ value }) => chosen.includes(value)),
    ),
  )
  const isFiltered = options.length >= FILTERED_FROM
  useFloating(anchor, box, onClose)
  useEffect(() => {
    box.current?.querySelector<HTMLElement>(isFiltered ? 'input' : '[role=listbox]')?.focus()
  }, [])
  useEffect(() => {
    box.current?.querySelector('.option.active')?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const move = (by: number) => setActive((active + by + found.length) % Math.max(found.length, 1))
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Enter' || (event.key === ' ' && !isFiltered)) {
      const option = found[active]
      if (option && !option.isDisabled) onPick(option.value)
    } else if (event.key === 'Escape') onClose()
    else if (event.key === 'Tab') return onClose()
    else return
    event.preventDefault()
  }
  return (
    <div ref={box} class="popup" popover="manual" onKeyDown={onKeyDown} onClick={(event) => event.stopPropagation()}>
      {isFiltered && (
        <input
          class="popup-filter"
          placeholder="Filter"
          aria-label={`Filter: ${label}`}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setActive(0)
          }}
        />
      )}
      <div role="listbox" aria-label={label} aria-multiselectable={isMultiple} tabIndex={-1} class="options">
        {found.map((option, index) => (
          <div
            key={option.value}
            role="option"
            tabIndex={-1}
            aria-selected={chosen.includes(option.value)}
            aria-disabled={option.isDisabled}
            class={`option${index === active ? ' active' : ''}`}
            onMouseMove={() => setActive(index)}
            onClick={() => !option.isDisabled && onPick(option.value)}
          >
            {option.icon}
            <span class="clip">{option.label}</span>
            {option.note && <span class="note">{option.note}</span>}
            {chosen.includes(option.value) && <Icon svg={check} />}
          </div>
        ))}
        {found.length === 0 && <div class="option empty">Nothing matches.</div>}
      </div>
    </div>
  )
}

/** Positions a popup beside its anchor and closes it on a click elsewhere. */
export function useFloating(anchor: HTMLElement, box: { current: HTMLElement | null }, onClose: () => void): void {
  useLayoutEffect(() => {
    const popup = box.current!
    popup.showPopover()
    const place = async () => {
      const { x, y } = await computePosition(anchor, popup, {
        placement: 'bottom-start',
        strategy: 'fixed',
        middleware: [
          offset(4),
          flip(),
          shift({ padding: 8 }),
          size({
            padding: 8,
            apply: ({ availableHeight, elements }) => {
              elements.floating.style.maxHeight = `${Math.min(availableHeight, 360)}px`
            },
          }),
        ],
      })
      popup.style.left = `${x}px`
      popup.style.top = `${y}px`
    }
    const stop = autoUpdate(anchor, popup, place)
    const onDown = (event: PointerEvent) => {
      const target = event.target as Node
      if (!popup.contains(target) && !anchor.contains(target)) onClose()
    }
    addEventListener('pointerdown', onDown, true)
    return () => {
      stop()
      removeEventListener('pointerdown', onDown, true)
    }
  }, [anchor])
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
