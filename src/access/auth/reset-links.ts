import { randomBytes } from 'node:crypto'
import { hashCredential } from '../../platform/credential.ts'

/**
 * Creates and checks password-reset links. Their hashes are in memory only: a
 * restart invalidates them, and neither the database nor a backup contains one.
 */
export interface ResetLinks {
  /**
   * The key that authorizes the creation of links. It is in keys/one-time.json,
   * which only the server's user can read.
   */
  readonly key: string
  /**
   * Creates a link for a person and invalidates the person's previous link.
   *
   * @returns its token and its expiry
   */
  make(userId: string, now: string): { token: string; expiresAt: string }
  /** @returns the id of the link's user; undefined if the link is used, expired or unknown */
  find(token: string, now: string): string | undefined
  /**
   * Marks a link as used.
   *
   * @returns the id of its user, and a function that makes the link valid
   *   again; undefined as in `find`
   */
  take(token: string, now: string): { userId: string; giveBack: () => void } | undefined
}

const LASTS_MS = 60 * 60 * 1_000

export function createResetLinks(): ResetLinks {
  const links = new Map<string, { hash: string; expiresAt: string }>()
  const find = (token: string, now: string) => {
    const hash = hashCredential(token)
    return [...links].find(([, link]) => link.hash === hash && link.expiresAt > now)?.[0]
  }
  return {
    key: randomBytes(32).toString('base64url'),
    make(userId, now) {
      const token = randomBytes(32).toString('base64url')
      const expiresAt = new Date(Date.parse(now) + LASTS_MS).toISOString()
      links.set(userId, { hash: hashCredential(token), expiresAt })
      return { token, expiresAt }
    },
    find,
    take(token, now) {
      const userId = find(token, now)
      const link = userId === undefined ? undefined : links.get(userId)
      if (userId === undefined || !link) return undefined
      links.delete(userId)
      return { userId, giveBack: () => void links.set(userId, link) }
    },
  }
}
