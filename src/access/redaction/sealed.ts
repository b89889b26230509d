import { invalid } from '../../platform/errors.ts'

/** The stored form of a redacted value: the encrypted value, and the placeholder that a read displays. */
export interface Sealed {
  $sealed: string
  shown: unknown
}

export const isSealed = (value: unknown): value is Sealed =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$sealed')

/** Returns the paths of the encrypted values in a value: `path`, followed by dotted keys. */
export function sealedIn(value: unknown, path: string): string[] {
  if (isSealed(value)) return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => sealedIn(inner, `${path}.${key}`))
}

/**
 * Refuses an encrypted value where a plain one is required: one that a client
 * sent, which it may have copied from elsewhere, and a stored one that the key
 * cannot decrypt.
 */
export function refuseSealed(value: unknown, path: string): void {
  const found = sealedIn(value, path)
  if (found.length > 0) {
    const message = 'is encrypted with another key; send the value, or null to remove it'
    throw invalid(found.map((path) => ({ path, message })))
  }
}

/** Returns the message for values that cannot be decrypted, with the remedy. */
export const unreadable = (paths: readonly string[], owner: string) =>
  `${paths.join(', ')} of ${owner} cannot be decrypted: keys/secret.key is not the key that encrypted it. Restore that key, or set the value again.`
