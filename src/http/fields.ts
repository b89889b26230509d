import * as v from 'valibot'
import { isSmallJson, JSON_TOO_LARGE } from '../platform/json-size.ts'

/**
 * The field schemas that bodies are composed of. Strings are valid Unicode
 * without NUL, which SQLite's text functions and environment variables cannot
 * contain.
 */
const wellFormed = v.pipe(
  v.string(),
  v.check((text) => text.isWellFormed() && !text.includes('\0'), 'must be Unicode text without NUL'),
)

/**
 * Characters that a line must not contain: control characters (C0, DEL and C1),
 * line separators, and those that change the direction of the text around them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches the forbidden characters.
const NOT_IN_LINE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

/** A name or a title: one line, 1 to 200 characters, without blanks around it. */
export const name = v.pipe(
  wellFormed,
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'must be at most 200 characters'),
  v.check((text) => !NOT_IN_LINE.test(text), 'must be one line, without control characters or bidirectional ones'),
)

/** A text of several lines, such as a description. */
export const text = v.pipe(wellFormed, v.maxLength(100_000, 'must be at most 100,000 characters'))

/** A reference to an entity: an id, an identifier or a key. The use case resolves it. */
export const reference = v.pipe(wellFormed, v.minLength(1, 'must not be empty'), v.maxLength(200))

/** The maximum length of a date or timestamp. */
export const MAX_TIME = 40

/** Whole cents, from 0 to 10 million dollars. */
export const cents = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000_000), v.examples([5_000]))

/** A colour as `#rrggbb`. */
export const color = v.pipe(v.string(), v.maxLength(7), v.regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour like #1a2b3c'))

/** The field schemas of responses. */
export const integer = v.pipe(v.number(), v.integer())
export const id = v.pipe(v.string(), v.uuid())
export const timestamp = v.pipe(v.string(), v.isoTimestamp())

/** Any JSON object, of a response. */
export const jsonObject = v.record(v.string(), v.unknown())

/** Any JSON object, in a body. */
export const sentObject = v.pipe(
  jsonObject,
  v.check((value) => isSmallJson(value), JSON_TOO_LARGE),
)

/** Whether a date or timestamp begins with a day that exists. `Date` takes February 30 for March 2. */
export function hasExistingDay(text: string): boolean {
  const day = text.slice(0, 10)
  const time = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === day
}

/** A timestamp in a request. An offset without minutes (+01) is ISO 8601 too, but Date cannot parse it. */
export const sentTimestamp = v.pipe(
  v.string(),
  v.maxLength(MAX_TIME),
  v.isoTimestamp('must be a timestamp like 2027-01-31T00:00:00Z'),
  v.check((at) => hasExistingDay(at) && !Number.isNaN(Date.parse(at)), 'must be a timestamp like 2027-01-31T00:00:00Z'),
)

/** When a credential expires, in a body. */
export const expiry = v.pipe(
  sentTimestamp,
  v.transform((at) => new Date(at).toISOString()),
)
