import { randomBytes } from 'node:crypto'
import { hashCredential } from '../../platform/credential.ts'

/**
 * Links to set another password. They are in memory alone, by their hashes: a
 * restart ends them, and neither the database nor a backup of it holds one.
 */
export interface ResetLinks {
  /** Who has it may make links; it stands in keys/one-time.json, for the server's user alone. */
  readonly key: string
  /** Makes a link for a person, in place of the one there was. @returns its token, and when it ends */
  make(userId: string, now: string): { token: string; expiresAt: string }
  /** @returns the id of the user whose link it is; undefined when it was used, has expired or never was */
  find(token: string, now: string): string | undefined
  /**
   * Uses a link up.
   *
   * @returns the id of its user, and a function that makes the link valid again; undefined as `find`
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
