import { invalid } from '../../platform/errors.ts'

/** Stands in a row for a value that reads redact: the value itself, sealed, and what a read shows in its place. */
export interface Sealed {
  $sealed: string
  shown: unknown
}

export const isSealed = (value: unknown): value is Sealed =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$sealed')

/** Where in a value something is sealed: `path`, and with dots what is below it. */
export function sealedIn(value: unknown, path: string): string[] {
  if (isSealed(value)) return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => sealedIn(inner, `${path}.${key}`))
}

/**
 * Refuses a sealed value where a plain one belongs: a client's, which could be
 * another's that it saw somewhere, and a stored one that the key does not open.
 */
export function refuseSealed(value: unknown, path: string): void {
  const found = sealedIn(value, path)
  if (found.length > 0) {
    const message = 'is sealed and does not open here; send the value itself, or null to remove it'
    throw invalid(found.map((path) => ({ path, message })))
  }
}

/** What is wrong with values that do not open, and what mends it. */
export const unreadable = (paths: readonly string[], owner: string) =>
  `${paths.join(', ')} of ${owner} cannot be opened: keys/secret.key is not the key that it was stored under. Put that key back, or set the value again.`
