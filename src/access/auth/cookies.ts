import type { Config } from '../../platform/config.ts'

/** The cookie of the browser that opened the link of a start with `--require-token`. */
export const LOCAL_COOKIE = 'service.local'

/** The cookie of somebody who signed in, as better-auth names it after its prefix. */
export const SESSION_COOKIE = 'service.session_token'

/** What the cookie is called by which a browser shows who it is. */
export function cookieName({ mode, trustProxy }: Pick<Config, 'mode' | 'trustProxy'>): string {
  if (mode === 'local_trusted') return LOCAL_COOKIE
  return trustProxy ? `__Secure-${SESSION_COOKIE}` : SESSION_COOKIE
}
