import type { UsageTotals } from './adapter.ts'

export type Json = Record<string, unknown>

/**
 * Parses one line of a program's output. Returns null unless it is a JSON
 * object, and for a line of more than 16 million characters, whose parsing would
 * stall the reader.
 */
export function parseLine(text: string): Json | null {
  if (text.length > 16_000_000 || !text.trimStart().startsWith('{')) return null
  try {
    return asObject(JSON.parse(text))
  } catch {
    return null
  }
}

/** Returns the value if it is an object, or else an empty object. */
export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

/** Returns the value if it is a string, or else an empty string. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Parses a number of tokens, also from a string of digits. Returns 0 for anything else. */
export function asCount(value: unknown): number {
  const number = asNumber(value)
  return number > 0 && number <= Number.MAX_SAFE_INTEGER ? Math.floor(number) : 0
}

/** Parses an amount in US dollars. Returns null for anything else, and for more than a million dollars, which is an error. */
export function asDollars(value: unknown): number | null {
  const number = asNumber(value)
  return number >= 0 && number <= 1_000_000 ? number : null
}

/** Returns a valid session id or null. An id with a leading dash would be an option on a command line. */
export const asSessionId = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9][\w.:-]{0,199}$/.test(value) ? value : null

/** Truncates a text to a number of UTF-16 code units, without splitting a character. */
export function cut(text: string, length = 2000): string {
  if (text.length <= length) return text.toWellFormed()
  const end = /[\uD800-\uDBFF]/.test(text[length - 1]!) ? length - 1 : length
  return text.slice(0, end).toWellFormed()
}

export const NOTHING: UsageTotals = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 }

/** Returns the sum of all tokens of a usage. */
export const tokens = (use: UsageTotals): number => use.inputTokens + use.cachedInputTokens + use.outputTokens

/** Returns the sum of all tokens of several usages. */
export const sumTokens = (uses: Iterable<UsageTotals>): number => {
  let sum = 0
  for (const use of uses) sum += tokens(use)
  return sum
}

/** Adds two usages. The cost is unknown if either cost is. */
export const plus = (a: UsageTotals, b: UsageTotals): UsageTotals => ({
  inputTokens: a.inputTokens + b.inputTokens,
  cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
})

/** Subtracts `earlier` from `later`, with 0 as the minimum. The cost is unknown if either cost is. */
export const minus = (later: UsageTotals, earlier: UsageTotals): UsageTotals => ({
  inputTokens: Math.max(0, later.inputTokens - earlier.inputTokens),
  cachedInputTokens: Math.max(0, later.cachedInputTokens - earlier.cachedInputTokens),
  outputTokens: Math.max(0, later.outputTokens - earlier.outputTokens),
  costUsd:
    later.costUsd === null || earlier.costUsd === null ? null : Math.max(0, toMicros(later.costUsd - earlier.costUsd)),
})

/** Parses the stored totals of a session. Returns a map, because a model may have the name of an object's own property. */
export const parseTotals = (totals: Record<string, UsageTotals> | undefined): Map<string, UsageTotals> =>
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

/** Rounds to a millionth of a dollar, so that differences of floating-point numbers compare equal. */
export const toMicros = (usd: number): number => Math.round(usd * 1e6) / 1e6

const asNumber = (value: unknown): number =>
  typeof value === 'number'
    ? value
    : typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)
      ? Number(value)
      : Number.NaN
