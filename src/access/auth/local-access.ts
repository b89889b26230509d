import { randomBytes } from 'node:crypto'
import { isSameSecret } from '../../platform/credential.ts'
import { LOCAL_COOKIE } from './cookies.ts'
import { createOneTimeLink, type OneTimeLink } from './one-time-link.ts'

/**
 * Decides who is the board in local trusted mode: everyone who reaches the
 * server or, with `--require-token`, the browser that opened the start link and
 * everyone who can read the data directory.
 */
export interface LocalAccess {
  /** Undefined if no token is required. */
  link: OneTimeLink | undefined
  /** The bearer token that the command line reads from the data directory. Undefined if no token is required. */
  key: string | undefined
  admits(cookie: string | undefined): boolean
  /**
   * Exchanges the token of the start link.
   *
   * @returns the `Set-Cookie` value; undefined if the token is wrong or used
   */
  enter(token: string): string | undefined
}

export function createLocalAccess({ requireToken }: { requireToken: boolean }): LocalAccess {
  if (!requireToken) return { link: undefined, key: undefined, admits: () => true, enter: () => undefined }
  const link = createOneTimeLink()
  const key = randomBytes(32).toString('base64url')
  return {
    link,
    key,
    admits(cookie) {
      const values = (cookie ?? '').split(/; */).filter((pair) => pair.startsWith(`${LOCAL_COOKIE}=`))
      return values.some((pair) => isSameSecret(pair.slice(LOCAL_COOKIE.length + 1), key))
    },
    enter: (token) => (link.use(token) ? `${LOCAL_COOKIE}=${key}; Path=/; HttpOnly; SameSite=Lax` : undefined),
  }
}
