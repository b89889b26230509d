import { useMemo, useRef, useState } from 'preact/hooks'

interface Held<Row> {
  rows: readonly Row[]
  /** The number of rows that are not displayed yet. */
  fresh: number
  /** Displays all current rows. */
  release: () => void
  hold: () => void
}

/**
 * Freezes the order of a list while the pointer is over it, to prevent clicks
 * on the wrong row. New rows are held back until the pointer leaves. Rows that
 * are loaded at the end are displayed immediately.
 */
export function useHeldRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  isItem: (row: Row) => boolean,
): Held<Row> {
  const [isHeld, setHeld] = useState(false)
  const order = useRef<readonly string[]>([])
  const displayed = useMemo(() => {
    if (!isHeld) {
      order.current = rows.map(keyOf)
      return { rows, fresh: 0 }
    }
    const held = new Set(order.current)
    const byKey = new Map(rows.map((row) => [keyOf(row), row]))
    const last = rows.findLastIndex((row) => held.has(keyOf(row)))
    const added = rows.slice(last + 1)
    order.current = [...order.current, ...added.map(keyOf)]
    const fresh = rows.filter((row, index) => index <= last && isItem(row) && !held.has(keyOf(row))).length
    return { rows: order.current.flatMap((key) => byKey.get(key) ?? []), fresh }
  }, [rows, isHeld])
  return { ...displayed, hold: () => setHeld(true), release: () => setHeld(false) }
}
