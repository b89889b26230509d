import type * as v from 'valibot'
import { invalid } from '../platform/errors.ts'
import { validate } from './validate.ts'

/**
 * Validates the query of a request. Unknown parameters are ignored, because
 * clients of similar APIs send some. An exception is a name that is one typing
 * error away from a known one: ignoring `stauts=todo` would list everything.
 *
 * @throws AppError 400 that names each parameter at fault
 */
export function validateQuery<T>(schema: v.GenericSchema<unknown, T>, query: Record<string, string>): T {
  const known = Object.keys((schema as { entries?: object }).entries ?? {})
  const mistyped = Object.keys(query).flatMap((name) => {
    const meant = known.includes(name) ? undefined : known.find((one) => isTypingErrorOf(name, one))
    return meant === undefined
      ? []
      : [{ path: name, message: `is not a parameter of this request. Did you mean ${meant}?` }]
  })
  if (mistyped.length > 0) throw invalid(mistyped)
  return validate(schema, query)
}

/** Shorter names are too similar to each other. */
const MIN_LENGTH = 4

/** Whether one letter is added, missing or wrong, or two neighbours are swapped. */
export function isTypingErrorOf(name: string, meant: string): boolean {
  if (meant.length < MIN_LENGTH || name === meant || Math.abs(name.length - meant.length) > 1) return false
  let start = 0
  while (start < Math.min(name.length, meant.length) && name[start] === meant[start]) start++
  const [rest, wanted] = [name.slice(start), meant.slice(start)]
  return (
    rest.slice(1) === wanted.slice(1) ||
    rest.slice(1) === wanted ||
    rest === wanted.slice(1) ||
    (rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2))
  )
}
