import { useSignal } from '@preact/signals'
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { useCommands } from '../state/commands.ts'
import { afterPaint } from '../state/idle.ts'
import { Button } from './button.tsx'
import { number } from './format.ts'
import { useHeldRows } from './held-rows.ts'

/** The height of the header of a page. */
const HEADER = 48

/** The room for a list in the window. Reading the size while a page renders would force its layout. */
let room = { width: innerWidth, height: innerHeight - HEADER }
addEventListener('resize', () => {
  room = { width: innerWidth, height: innerHeight - HEADER }
})

/**
 * Returns a virtualizer that renders the component when the visible rows change.
 * Pass the same `getItemKey` until the rows change. With a new function, the
 * virtualizer recomputes the position of every row.
 */
export function useVirtual(
  options: Pick<
    VirtualizerOptions<HTMLElement, HTMLElement>,
    'count' | 'getScrollElement' | 'estimateSize' | 'getItemKey' | 'overscan' | 'initialOffset' | 'paddingEnd'
  >,
): Virtualizer<HTMLElement, HTMLElement> {
  const [, rerender] = useReducer((n: number, _: undefined) => n + 1, 0)
  const [isPainted, setPainted] = useState(false)
  useEffect(() => afterPaint(() => setPainted(true)), [])
  const all: VirtualizerOptions<HTMLElement, HTMLElement> = {
    ...options,
    // The rows outside of the window would delay the first view.
    overscan: isPainted ? (options.overscan ?? 1) : 0,
    // The first render fills the window. Without this, it has no rows and is repeated when the size is known.
    initialRect: room,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => rerender(undefined),
  }
  const [virtualizer] = useState(() => new Virtualizer(all))
  virtualizer.setOptions(all)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}

/** The position at which each list was left: the focused row and the scroll offset. */
const places = new Map<string, { key: string | undefined; offset: number }>()

interface ListProps<Row> {
  /** The name of the list. It is also the key of the saved position. */
  id: string
  label: string
  rows: readonly Row[]
  keyOf: (row: Row) => string
  heightOf?: (row: Row) => number
  /** Whether a row can receive the focus. Headings cannot. */
  isItem?: (row: Row) => boolean
  /** Renders a row. The list focuses the link with the class `row-link`. */
  children: (row: Row, state: { isSelected: boolean }) => ComponentChildren
  /** The keys of the selected rows, if rows can be selected. */
  selection?: { value: ReadonlySet<string> }
  onSelect?: (keys: ReadonlySet<string>) => void
  /** Called before the last rows become visible. */
  onEnd?: () => void
  /** Called with the index of the last visible row. */
  onShown?: (lastIndex: number) => void
  /** Called with the key of the focused row. */
  onFocus?: (key: string | undefined) => void
}

const ROW_HEIGHT = 32

/** The number of rendered rows above and below the visible ones. */
const OVERSCAN = 6

/** The distance from the end, in rows, at which the next rows are loaded. */
export const AHEAD = 60

/**
 * A list of any length that renders only the visible rows. `j` and `k` move, Enter opens,
 * `x` selects, Escape clears.
 */
export function List<Row>(props: ListProps<Row>) {
  const {
    id,
    label,
    rows: current,
    keyOf,
    heightOf = () => ROW_HEIGHT,
    isItem = () => true,
    children,
    selection,
    onSelect,
  } = props
  const { rows, fresh, hold, release } = useHeldRows(current, keyOf, isItem)
  const box = useRef<HTMLDivElement>(null)
  const place = useMemo(() => places.get(id), [id])
  const focused = useSignal(place?.key)
  const wanted = useRef(place?.key)
  const virtualizer = useVirtual({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => heightOf(rows[index]!),
    getItemKey: useCallback((index: number) => keyOf(rows[index]!), [rows]),
    overscan: OVERSCAN,
    initialOffset: place?.offset ?? 0,
  })
  const heights = useMemo(() => rows.reduce((hash, row) => (hash * 31 + heightOf(row)) | 0, 0), [rows])
  const isMeasured = useRef(false)
  useLayoutEffect(() => {
    if (isMeasured.current) virtualizer.measure()
    isMeasured.current = true
  }, [rows.length, heights])
  useEffect(() => () => void places.set(id, { key: focused.peek(), offset: virtualizer.scrollOffset ?? 0 }), [id])
  // The row that receives the focus may not have been rendered before.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const link = box.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(wanted.current)}"] .row-link`)
    if (!link) return
    wanted.current = undefined
    link.focus({ preventScroll: true })
  })
  const items = virtualizer.getVirtualItems()
  const lastIndex = items.at(-1)?.index ?? 0
  useEffect(
    () =>
      afterPaint(() => {
        if (rows.length > 0 && lastIndex >= rows.length - AHEAD) props.onEnd?.()
        props.onShown?.(lastIndex)
      }),
    [lastIndex, rows.length],
  )

  const focus = (index: number) => {
    const key = keyOf(rows[index]!)
    focused.value = key
    wanted.current = key
    props.onFocus?.(key)
    virtualizer.scrollToIndex(index, { align: 'auto' })
    const link = box.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"] .row-link`)
    if (link) {
      wanted.current = undefined
      link.focus({ preventScroll: true })
    }
  }
  const move = (by: 1 | -1) => {
    const from = rows.findIndex((row) => keyOf(row) === focused.peek())
    for (
      let index = from === -1 && by === -1 ? rows.length - 1 : from + by;
      index >= 0 && index < rows.length;
      index += by
    ) {
      if (isItem(rows[index]!)) return focus(index)
    }
  }
  const toggle = (key: string) => {
    if (!selection || !onSelect) return
    const next = new Set(selection.value)
    if (!next.delete(key)) next.add(key)
    onSelect(next)
  }
  useCommands([
    { id: `${id}.down`, title: 'Move down', keys: 'j', group: 'List', isKeyOnly: true, run: () => move(1) },
    { id: `${id}.up`, title: 'Move up', keys: 'k', group: 'List', isKeyOnly: true, run: () => move(-1) },
    {
      id: `${id}.arrow-down`,
      title: 'Move down',
      keys: 'ArrowDown',
      group: 'List',
      isKeyOnly: true,
      run: () => move(1),
    },
    { id: `${id}.arrow-up`, title: 'Move up', keys: 'ArrowUp', group: 'List', isKeyOnly: true, run: () => move(-1) },
    ...(onSelect
      ? [
          {
            id: `${id}.select`,
            title: 'Select the row',
            keys: 'x',
            group: 'List',
            isKeyOnly: true,
            run: () => focused.peek() !== undefined && toggle(focused.peek()!),
          },
          ...(selection && selection.value.size > 0
            ? [
                {
                  id: `${id}.clear`,
                  title: 'Clear the selection',
                  keys: 'Escape',
                  group: 'List',
                  isKeyOnly: true,
                  run: () => onSelect(new Set()),
                },
              ]
            : []),
        ]
      : []),
  ])
  return (
    <div
      ref={box}
      class="list"
      id={id}
      onPointerEnter={(event) => event.pointerType === 'mouse' && hold()}
      onPointerLeave={release}
    >
      {fresh > 0 && (
        <div class="list-fresh">
          <Button onClick={release}>{number(fresh)} new</Button>
        </div>
      )}
      <div role="list" aria-label={label} style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {items.map(({ index, key, start, size }) => {
          const row = rows[index]
          if (row === undefined) return null
          const rowKey = keyOf(row)
          const isSelected = selection?.value.has(rowKey) ?? false
          return (
            <div
              key={key}
              role="listitem"
              data-key={rowKey}
              class={`list-row${isSelected ? ' selected' : ''}`}
              style={{ top: `${start}px`, height: `${size}px` }}
              onClick={openByTime}
              onFocusIn={() => {
                focused.value = rowKey
                props.onFocus?.(rowKey)
              }}
            >
              {children(row, { isSelected })}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** Opens a row by a click on a time, which is above the row's link because it has a tooltip. */
function openByTime({ target, currentTarget }: MouseEvent): void {
  if (target instanceof HTMLTimeElement) (currentTarget as HTMLElement).querySelector<HTMLElement>('.row-link')?.click()
}
