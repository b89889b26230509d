import { stripVTControlCharacters, styleText } from 'node:util'
import stringWidth from 'fast-string-width'
import { escapeInJson, withoutControlCharacters } from '../../connection/control-characters.ts'

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

export const printJson = (value: unknown): void => print(escapeInJson(JSON.stringify(value, null, 2)))

/** The colours, one for each meaning. */
const PAINTS = {
  strong: 'bold',
  quiet: 'dim',
  good: 'green',
  busy: 'cyan',
  waiting: 'yellow',
  bad: 'red',
} as const

/** Paints text for a terminal. Text for a pipe, a file or with `NO_COLOR` is not painted. */
export const paint = (meaning: keyof typeof PAINTS, text: string): string =>
  styleText(PAINTS[meaning], text, { stream: process.stdout })

/**
 * Formats rows as columns, each as wide as its widest cell, measured in cells of
 * the terminal. If the terminal is too narrow, the widest columns are truncated.
 * Cells must not be painted. Known libraries draw borders or wrap lines, which
 * does not suit output that people pipe into grep. fast-string-width measures the
 * width, because string-width takes 60 ms to load at each command.
 */
export function table(rows: readonly (readonly string[])[], width = lineWidth()): string {
  const clean = rows.map((row) => row.map(oneLine))
  const widths = (clean[0] ?? []).map((_, column) => Math.max(...clean.map((row) => stringWidth(row[column] ?? ''))))
  for (let excess = widths.reduce((sum, each) => sum + each + 2, -2) - width; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths))
    if (widths[widest]! <= NARROWEST) break
    widths[widest]!--
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

/** The minimum width of a truncated column, in cells. */
const NARROWEST = 8

/** Returns the maximum width of a line: that of the terminal, at least 80. A pipe has no limit unless `COLUMNS` sets one. */
function lineWidth(): number {
  const columns = process.stdout.columns ?? Number(process.env.COLUMNS)
  return columns > 0 ? Math.max(80, columns) : Number.POSITIVE_INFINITY
}

/** Truncates or pads a text to a width in cells. */
function fit(text: string, width: number): string {
  const own = stringWidth(text)
  if (own <= width) return text + ' '.repeat(width - own)
  let cut = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const more = stringWidth(segment)
    if (used + more > width - 1) break
    cut += segment
    used += more
  }
  return `${cut}…${' '.repeat(width - 1 - used)}`
}

/** Converts an untrusted text to one line without control characters, which could control the terminal. */
export const oneLine = (text: string): string => plain(text).replaceAll(/\s+/g, ' ').trim()

/** Removes control characters and escape sequences from an untrusted text. */
export const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes them.
  withoutControlCharacters(stripVTControlCharacters(text)).replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')

/** Formats names and values, one pair per line, without the pairs that have no value. */
export function fields(entries: readonly (readonly [string, string | number | null | undefined])[]): string {
  const present = entries.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(...present.map(([name]) => name.length))
  return present.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(String(value))}`).join('\n')
}

/** Shortens an id to its last characters, which are random. Every command accepts the short form. */
export const shortId = (id: string): string => id.slice(-8)

/** Formats the time since a timestamp: `3m`, `2h`, `5d`; empty for null. */
export function ago(at: string | null, now = Date.now()): string {
  return at === null ? '' : duration(Math.max(0, now - Date.parse(at)))
}

/** Formats milliseconds in their largest unit: `0.4s`, `12s`, `3m`, `2h`, `5d`. */
export function duration(ms: number): string {
  const seconds = ms / 1_000
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`
  if (seconds < 60) return `${Math.round(seconds)}s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`
}

/** Formats a timestamp in the user's time zone: `2026-11-21 09:00:04`. */
export function localTime(at: string): string {
  const date = new Date(at)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

const TIMESTAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

/** Replaces the timestamps in a sentence of the server, which does not know the user's time zone. */
export const withLocalTimes = (sentence: string): string => sentence.replaceAll(TIMESTAMP, localTime)

/** Returns whether a stored credential is valid, by the clock of this machine. */
export const credentialStatus = ({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }) =>
  revokedAt !== null ? 'revoked' : expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid'

/** Formats a status or a reason as words: `in_progress` as `in progress`. */
export const words = (name: string): string => name.replaceAll(/[._]/g, ' ')

/** Formats cents: 1234.5 as `$12.35`. */
export const money = (cents: number): string => `$${(cents / 100).toFixed(2)}`

/** Formats a cost. A cost without a known price is never displayed as free. */
export const cost = (cents: number, isUnpriced: boolean): string =>
  !isUnpriced ? money(cents) : cents === 0 ? 'unpriced' : `${money(cents)} and unpriced`

/** Quotes a word for a shell. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
