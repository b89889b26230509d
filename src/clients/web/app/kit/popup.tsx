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

/** The number of options from which a list has a filter field. */
const FILTERED_FROM = 8

/** The maximum number of displayed options. Typing finds the others. */
const SHOWN = 200

/** The delay between the last keystroke and the search, in milliseconds. */
const REST_MS = 120

interface ChoicesProps<T extends string> {
  anchor: HTMLElement
  label: string
  options: readonly Option<T>[]
  chosen: readonly T[]
  isMultiple: boolean
  onSearch: ((text: string) => void) | undefined
  onClose: () => void
  onPick: (value: T) => void
}

/** The open list of a `Picker`. Its code loads after the first view, because it needs a library. */
export function Choices<T extends string>({
  anchor,
  label,
  options,
  chosen,
  isMultiple,
  onSearch,
  onClose,
  onPick,
}: ChoicesProps<T>) {
  const box = useRef<HTMLDivElement>(null)
  const [text, setText] = useState('')
  const found = options.filter((option) => option.label.toLowerCase().includes(text.toLowerCase())).slice(0, SHOWN)
  const [active, setActive] = useState(() =>
    Math.max(
      0,
      options.findIndex(({ value }) => chosen.includes(value)),
    ),
  )
  const isFiltered = onSearch !== undefined || options.length >= FILTERED_FROM
  useFloating(anchor, box, onClose)
  useEffect(() => {
    box.current?.querySelector<HTMLElement>(isFiltered ? 'input' : '[role=listbox]')?.focus()
  }, [])
  useEffect(() => {
    box.current?.querySelector('.option.active')?.scrollIntoView({ block: 'nearest' })
  }, [active])
  useEffect(() => {
    const timer = setTimeout(() => onSearch?.(text), text === '' ? 0 : REST_MS)
    return () => clearTimeout(timer)
  }, [text])
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
function useFloating(anchor: HTMLElement, box: { current: HTMLElement | null }, onClose: () => void): void {
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
