import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Creates a long-lived credential: the prefix, 32 random bytes and a checksum,
 * with which secret scanners recognize real credentials.
 */
export function createCredential(prefix: string): string {
  const body = randomBytes(32).toString('base64url')
  return `${prefix}${body}${hash('sha256', body, 'base64url').slice(0, 6)}`
}

/** Returns the hash under which a credential is stored. Credentials are 32 random bytes, so a plain hash is enough. */
export const hashCredential = (credential: string) => createHash('sha256').update(credential).digest('base64url')

/** Compares two secrets in constant time. */
export const isSameSecret = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))

const digest = (text: string) => createHash('sha256').update(text).digest()
