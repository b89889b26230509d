import { stripVTControlCharacters, styleText } from 'node:util'

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** What may be painted; each name is one meaning, so that the whole program uses few colours. */
const PAINTS = {
  strong: 'bold',
  quiet: 'dim',
  good: 'green',
  busy: 'cyan',
  waiting: 'yellow',
  bad: 'red',
} as const

/** Paints text for a terminal; leaves it alone for a pipe, a file and `NO_COLOR`. */
export const paint = (meaning: keyof typeof PAINTS, text: string): string =>
  styleText(PAINTS[meaning], text, { stream: process.stdout })

/**
 * Lays rows out in columns, each as wide as its widest cell. On a terminal that
 * is too narrow the widest column is cut. Cells are not painted: colours have
 * no width.
 */
export function table(rows: readonly (readonly string[])[], width = lineWidth()): string {
  const clean = rows.map((row) => row.map(oneLine))
  const widths = (clean[0] ?? []).map((_, column) => Math.max(...clean.map((row) => row[column]?.length ?? 0)))
  const excess = widths.reduce((sum, each) => sum + each + 2, -2) - width
  if (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths))
    widths[widest] = Math.max(NARROWEST, widths[widest]! - excess)
  }
  return clean
    .map((row) =>
      row
        .map((cell, i) => fit(cell, widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** How far the widest column is cut. */
const NARROWEST = 16

/** How wide a line may be: the terminal's width, from 80; a pipe has none unless `COLUMNS` says so. */
function lineWidth(): number {
  const columns = process.stdout.columns ?? Number(process.env.COLUMNS)
  return columns > 0 ? Math.max(80, columns) : Number.POSITIVE_INFINITY
}

const fit = (cell: string, width: number) =>
  cell.length > width ? `${cell.slice(0, width - 1).toWellFormed()}…` : cell.padEnd(width)

/** What others wrote, as one line that cannot steer the terminal. */
export const oneLine = (text: string): string => plain(text).replaceAll(/\s+/g, ' ').trim()

/** What others wrote, without what steers a terminal. */
export const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it takes out.
  stripVTControlCharacters(text).replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')

/** Names and values below each other; what has no value is left out. */
export function fields(entries: readonly (readonly [string, string | number | null | undefined])[]): string {
  const present = entries.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(...present.map(([name]) => name.length))
  return present.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(String(value))}`).join('\n')
}

/** An id as tables show it: its last characters, which are random. Every command takes it for the whole. */
export const shortId = (id: string): string => id.slice(-8)

/** How long ago a moment was: `3m`, `2h`, `5d`; empty for none. */
export function ago(at: string | null, now = Date.now()): string {
  return at === null ? '' : duration(Math.max(0, now - Date.parse(at)))
}

/** A duration in its largest unit: `0.4s`, `12s`, `3m`, `2h`, `5d`. */
export function duration(ms: number): string {
  const seconds = ms / 1_000
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`
  if (seconds < 60) return `${Math.round(seconds)}s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`
}

/** A moment as the user's own clock shows it: `2026-11-21 09:00:04`. */
export function localTime(at: string): string {
  const date = new Date(at)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

/** A status or a reason as words: `in_progress` is `in progress`. */
export const words = (name: string): string => name.replaceAll(/[._]/g, ' ')

/** Cents as money: 1234.5 is `$12.35`. */
export const money = (cents: number): string => `$${(cents / 100).toFixed(2)}`

/** What something cost; what nobody knows the price of is never shown as free. */
export const cost = (cents: number, isUnpriced: boolean): string =>
  !isUnpriced ? money(cents) : cents === 0 ? 'unpriced' : `${money(cents)} and unpriced`

/** A word as a shell takes it whole. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
