import * as v from 'valibot'
import { type FieldError, invalid } from '../platform/errors.ts'

/** The maximum number of invalid fields that an error names. */
const NAMED_FIELDS = 50

/** The maximum number of unknown fields that an error names. */
const NAMED_UNKNOWN_FIELDS = 20

/**
 * Validates a value with a schema and returns its output. Of each field, only
 * the first error is found: a text that is too long is not searched further.
 *
 * @throws AppError 400 that names every invalid field
 */
export function validate<T>(schema: v.GenericSchema<unknown, T>, value: unknown, at = ''): T {
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (result.success) {
    const lists = listsAsObjects(value, result.output, at)
    if (lists.length > 0) throw invalid(lists.map((path) => ({ path, message: 'must be an object, not a list' })))
    return result.output
  }
  const known = result.issues.filter((issue) => !isUnknownField(issue)).map((issue) => fieldError(issue, at))
  const found = result.issues.filter(isUnknownField).map((issue) => pathOf(issue, at))
  const unknown = new Set([...found, ...unknownFields(schema, value, at, NAMED_UNKNOWN_FIELDS)])
  const errors = [...unknown].slice(0, NAMED_UNKNOWN_FIELDS).map((path) => ({ path, message: UNKNOWN_FIELD }))
  throw invalid([...known.slice(0, NAMED_FIELDS), ...errors].slice(0, NAMED_FIELDS))
}

const UNKNOWN_FIELD = 'is not a field of this request'

/** Finds lists that valibot accepted as objects: it converts `[]` to `{}` and `['x']` to a record. */
function listsAsObjects(value: unknown, taken: unknown, at: string): string[] {
  if (typeof value !== 'object' || value === null || typeof taken !== 'object' || taken === null) return []
  if (value === taken) return []
  if (Array.isArray(value) && !Array.isArray(taken)) return [at]
  return Object.entries(value).flatMap(([key, inner]) =>
    listsAsObjects(inner, (taken as Record<string, unknown>)[key], at === '' ? key : `${at}.${key}`),
  )
}

type Issue = v.BaseIssue<unknown>

const isUnknownField = (issue: Issue) => issue.type === 'strict_object' && issue.expected === 'never'

/** What valibot stores in a schema, as far as it is needed to find unknown fields. */
type Shape = v.GenericSchema & { entries?: Record<string, Shape>; wrapped?: Shape; item?: Shape }

/** Lists fields that the objects of a schema do not have. Valibot reports only the first one of each object. */
function unknownFields(schema: Shape, value: unknown, at: string, max: number): string[] {
  const { type, entries, wrapped, item } = schema
  if (wrapped) return unknownFields(wrapped, value, at, max)
  if (typeof value !== 'object' || value === null) return []
  const found: string[] = []
  for (const [key, inner] of Object.entries(value)) {
    if (found.length >= max) break
    const path = at === '' ? key : `${at}.${key}`
    const known = item ?? (entries && Object.hasOwn(entries, key) ? entries[key] : undefined)
    if (known) found.push(...unknownFields(known, inner, path, max - found.length))
    else if (type === 'strict_object') found.push(shorten(path))
  }
  return found
}

function fieldError(issue: Issue, at: string): FieldError {
  const path = pathOf(issue, at)
  if (issue.type.endsWith('object') && issue.received === 'undefined') return { path, message: 'is required' }
  // Messages of valibot begin with "Invalid type: ". Messages of our schemas are clauses.
  const message = shorten(issue.message).replace(/^Invalid \w+: /, '')
  return { path, message: message.replace(/^Expected/, 'expected') }
}

const pathOf = (issue: Issue, at: string) => shorten([at, v.getDotPath(issue)].filter(Boolean).join('.'))

/** Shortens a value for an error message. A value may be as long as the body. */
const shorten = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
