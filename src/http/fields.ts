import * as v from 'valibot'

/**
 * The field schemas that bodies are composed of. Strings are valid Unicode
 * without NUL, which SQLite's text functions and environment variables cannot
 * contain.
 */
const wellFormed = v.pipe(
  v.string(),
  v.check((text) => text.isWellFormed() && !text.includes('\0'), 'must be Unicode text without NUL'),
)

/** A name or a title: one line of 1 to 200 characters, without leading or trailing blanks. */
export const name = v.pipe(
  wellFormed,
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'must be at most 200 characters'),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what a name may not have.
  v.regex(/^[^\u0000-\u001f\u007f]*$/, 'must be one line'),
)

/** A text of several lines, such as a description. */
export const text = v.pipe(wellFormed, v.maxLength(100_000, 'must be at most 100,000 characters'))

/** A reference to an entity: an id, an identifier or a key. The use case resolves it. */
export const reference = v.pipe(wellFormed, v.minLength(1, 'must not be empty'), v.maxLength(200))

/** Whole cents, from 0 to 10 million dollars. */
export const cents = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000_000), v.examples([5_000]))

/** A colour as `#rrggbb`. */
export const color = v.pipe(v.string(), v.regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour like #1a2b3c'))

/** The field schemas of responses. */
export const integer = v.pipe(v.number(), v.integer())
export const id = v.pipe(v.string(), v.uuid())
export const timestamp = v.pipe(v.string(), v.isoTimestamp())

/** Any JSON object. In a body, the limits of the body apply. */
export const jsonObject = v.record(v.string(), v.unknown())
