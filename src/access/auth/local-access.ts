import { randomBytes } from 'node:crypto'
import { isSameSecret } from '../../platform/credential.ts'
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

/** @param cookieName of the cookie that the link sets */
export function createLocalAccess({ requireToken }: { requireToken: boolean }, cookieName: string): LocalAccess {
  if (!requireToken) return { link: undefined, key: undefined, admits: () => true, enter: () => undefined }
  const link = createOneTimeLink()
  const key = randomBytes(32).toString('base64url')
  // Another server on this machine receives this cookie too, because cookies ignore ports. It must not receive the bearer key.
  const cookieValue = randomBytes(32).toString('base64url')
  return {
    link,
    key,
    admits(cookie) {
      const values = (cookie ?? '').split(/; */).filter((pair) => pair.startsWith(`${cookieName}=`))
      return values.some((pair) => isSameSecret(pair.slice(cookieName.length + 1), cookieValue))
    },
    enter: (token) => (link.use(token) ? `${cookieName}=${cookieValue}; Path=/; HttpOnly; SameSite=Lax` : undefined),
  }
}
