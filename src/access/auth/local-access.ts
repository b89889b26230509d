import { randomBytes } from 'node:crypto'
import { isSameSecret } from '../../platform/credential.ts'
import { LOCAL_COOKIE } from './cookies.ts'
import { createOneTimeLink, type OneTimeLink } from './setup.ts'

/**
 * Who is the board in local trusted mode: everybody who reaches the server,
 * or, with `--require-token`, the browser that opened the link of the start and
 * who can read the data directory.
 */
export interface LocalAccess {
  /** Undefined where no token is required. */
  link: OneTimeLink | undefined
  /** What the command line beside the data directory sends as a bearer; undefined where no token is required. */
  key: string | undefined
  admits(cookie: string | undefined): boolean
  /** @returns the `Set-Cookie` value for the link's token; undefined when it is not, or used up */
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
