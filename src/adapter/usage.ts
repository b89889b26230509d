import type { UsageTotals } from './adapter.ts'

export type Json = Record<string, unknown>

/**
 * Parses one line of a program's output. Null for noise, a half line, a line
 * over 16 million characters (parsing it would stall the reader), and for JSON
 * that is not an object.
 */
export function parseLine(text: string): Json | null {
  if (text.length > 16_000_000 || !text.trimStart().startsWith('{')) return null
  try {
    return asObject(JSON.parse(text))
  } catch {
    return null
  }
}

/** The value as an object with fields to read; an empty one when it is anything else. */
export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A number of tokens: whole and never negative, 0 for what is no such number. Digits in a string count. */
export function asCount(value: unknown): number {
  const number = asNumber(value)
  return number > 0 && number <= Number.MAX_SAFE_INTEGER ? Math.floor(number) : 0
}

/** US dollars, or null for what cannot be an amount. A run of over a million dollars is taken for a mistake. */
export function asDollars(value: unknown): number | null {
  const number = asNumber(value)
  return number >= 0 && number <= 1_000_000 ? number : null
}

/** A session id that may stand on a command line, where one with a leading dash would be an option. */
export const asSessionId = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9][\w.:-]{0,199}$/.test(value) ? value : null

/** Cuts a text to a number of UTF-16 units, never through a character. */
export function cut(text: string, length = 2000): string {
  if (text.length <= length) return text.toWellFormed()
  const end = /[\uD800-\uDBFF]/.test(text[length - 1]!) ? length - 1 : length
  return text.slice(0, end).toWellFormed()
}

export const NOTHING: UsageTotals = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 }

export const tokens = (use: UsageTotals): number => use.inputTokens + use.cachedInputTokens + use.outputTokens

export const sumTokens = (uses: Iterable<UsageTotals>): number => {
  let sum = 0
  for (const use of uses) sum += tokens(use)
  return sum
}

/** Both together; of unknown cost when either is. */
export const plus = (a: UsageTotals, b: UsageTotals): UsageTotals => ({
  inputTokens: a.inputTokens + b.inputTokens,
  cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
})

/** What `later` has beyond `earlier`, no figure below 0; of unknown cost when either is. */
export const minus = (later: UsageTotals, earlier: UsageTotals): UsageTotals => ({
  inputTokens: Math.max(0, later.inputTokens - earlier.inputTokens),
  cachedInputTokens: Math.max(0, later.cachedInputTokens - earlier.cachedInputTokens),
  outputTokens: Math.max(0, later.outputTokens - earlier.outputTokens),
  costUsd:
    later.costUsd === null || earlier.costUsd === null ? null : Math.max(0, toMicros(later.costUsd - earlier.costUsd)),
})

/** The kept figures of a session as a map: a model's name may be any text, so never a plain object's key. */
export const keptTotals = (totals: Record<string, UsageTotals> | undefined): Map<string, UsageTotals> =>
  new Map(
    Object.entries(totals ?? {}).map(([model, use]) => [
      model,
      {
        inputTokens: asCount(use.inputTokens),
        cachedInputTokens: asCount(use.cachedInputTokens),
        outputTokens: asCount(use.outputTokens),
        costUsd: asDollars(use.costUsd),
      },
    ]),
  )

/** Rounds to a millionth of a dollar, so that differences of floats compare. */
export const toMicros = (usd: number): number => Math.round(usd * 1e6) / 1e6

const asNumber = (value: unknown): number =>
  typeof value === 'number'
    ? value
    : typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)
      ? Number(value)
      : Number.NaN
