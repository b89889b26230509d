import type { Config } from '../../platform/config.ts'

/** The cookie of the browser that opened the start link of `--require-token`. */
export const LOCAL_COOKIE = 'service.local'

/** The session cookie, as better-auth names it after its prefix. */
export const SESSION_COOKIE = 'service.session_token'

/** Returns the name of the cookie that authenticates a browser. */
export function cookieName({ mode, trustProxy }: Pick<Config, 'mode' | 'trustProxy'>): string {
  if (mode === 'local_trusted') return LOCAL_COOKIE
  return trustProxy ? `__Secure-${SESSION_COOKIE}` : SESSION_COOKIE
}
