import { useMemo, useRef, useState } from 'preact/hooks'

interface Held<Row> {
  rows: readonly Row[]
  /** How many rows wait to be shown. */
  fresh: number
  /** Shows everything as it is now. */
  release: () => void
  hold: () => void
}

/**
 * Keeps the rows of a list in their places while the pointer is over it: a row
 * that moves under the pointer is pressed by mistake. New rows wait; those
 * that are loaded at the end do not.
 */
export function useHeldRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  isItem: (row: Row) => boolean,
): Held<Row> {
  const [isHeld, setHeld] = useState(false)
  const order = useRef<readonly string[]>([])
  const shown = useMemo(() => {
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
  return { ...shown, hold: () => setHeld(true), release: () => setHeld(false) }
}
