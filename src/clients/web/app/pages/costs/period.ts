/** A span of UTC days. */
export interface Period {
  id: string
  title: string
  from: string
  to: string
}

const DAY_MS = 86_400_000

/** The periods of the cost reports. The first is the default. */
export function periods(now = new Date()): Period[] {
  const month = (by: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + by, 1))
  const tomorrow = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1))
  const last = (days: number) => new Date(tomorrow.getTime() - days * DAY_MS)
  const make = (id: string, title: string, from: Date, to: Date) => ({
    id,
    title,
    from: from.toISOString(),
    to: to.toISOString(),
  })
  return [
    make('month', 'This month', month(0), month(1)),
    make('7', 'Last 7 days', last(7), tomorrow),
    make('30', 'Last 30 days', last(30), tomorrow),
    make('last', 'Last month', month(-1), month(0)),
    make('90', 'Last 90 days', last(90), tomorrow),
  ]
}

/** Returns the days of a period up to today, such as `2026-11-22`. */
export function daysOf({ from, to }: Period, now = Date.now()): string[] {
  const days: string[] = []
  for (let at = Date.parse(from); at < Math.min(Date.parse(to), now); at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10))
  return days
}
