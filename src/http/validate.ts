import * as v from 'valibot'
import { type FieldError, invalid } from '../platform/errors.ts'

/** The maximum number of invalid fields that an error names. */
const NAMED_FIELDS = 50

/** The maximum number of unknown fields that an error names. Each requires another validation. */
const NAMED_UNKNOWN_FIELDS = 20

/**
 * Validates a value with a schema and returns its output.
 *
 * @throws AppError 400 that names every invalid field
 */
export function validate<T>(schema: v.GenericSchema<unknown, T>, value: unknown, at = ''): T {
  const result = v.safeParse(schema, value)
  if (result.success) {
    const lists = listsAsObjects(value, result.output, at)
    if (lists.length > 0) throw invalid(lists.map((path) => ({ path, message: 'must be an object, not a list' })))
    return result.output
  }
  const unknown = [...result.issues.filter(isUnknownField), ...moreUnknownFields(schema, value, result.issues)]
  const known = result.issues.filter((issue) => !isUnknownField(issue))
  const issues = [...known, ...unknown.slice(0, NAMED_UNKNOWN_FIELDS)]
  throw invalid(issues.slice(0, NAMED_FIELDS).map((issue) => fieldError(issue, at)))
}

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

/**
 * Finds further unknown fields. Valibot stops at the first unknown field of an
 * object, so each one is removed and the value is validated again.
 */
function moreUnknownFields(schema: v.GenericSchema, value: unknown, found: readonly Issue[]): Issue[] {
  const more: Issue[] = []
  const copy = structuredClone(value)
  let last = found.filter(isUnknownField)
  while (last.length > 0 && more.length < NAMED_UNKNOWN_FIELDS) {
    for (const { path } of last) removeAt(copy, path!)
    last = (v.safeParse(schema, copy).issues ?? []).filter(isUnknownField)
    more.push(...last)
  }
  return more
}

function removeAt(value: unknown, path: readonly { key: unknown }[]): void {
  const keys = path.map((item) => String(item.key))
  const owner = keys.slice(0, -1).reduce((inner, key) => (inner as Record<string, unknown>)[key], value)
  delete (owner as Record<string, unknown>)[keys.at(-1)!]
}

function fieldError(issue: Issue, at: string): FieldError {
  const path = shorten([at, v.getDotPath(issue)].filter(Boolean).join('.'))
  if (isUnknownField(issue)) return { path, message: 'is not a field of this request' }
  if (issue.type.endsWith('object') && issue.received === 'undefined') return { path, message: 'is required' }
  // Messages of valibot begin with "Invalid type: ". Messages of our schemas are clauses.
  return { path, message: shorten(issue.message.replace(/^Invalid \w+: /, '').replace(/^Expected/, 'expected')) }
}

/** Shortens a value for an error message. A value may be as long as the body. */
const shorten = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
