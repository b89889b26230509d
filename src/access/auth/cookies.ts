import type { Config } from '../../platform/config.ts'
import type { Vault } from '../../platform/vault.ts'

/** The names of the cookies of this server. */
export interface CookieNames {
  /** The cookie of the browser that opened the link of a start with `--require-token`. */
  local: string
  /** The cookie of a person who signed in. */
  session: string
}

/**
 * Returns the names of a server's cookies. Browsers send a cookie to every port
 * of a host, so that the name contains an id of the data directory: two servers
 * on one machine do not overwrite each other's. Behind https, `__Host-` makes
 * the browser refuse a cookie that another host or an unencrypted page sets.
 */
export function cookieNames({ trustProxy }: Pick<Config, 'trustProxy'>, vault: Vault): CookieNames {
  const prefix = `service-${vault.fingerprint('cookie names').slice(0, 12)}`
  return { local: `${prefix}.local`, session: `${trustProxy ? '__Host-' : ''}${prefix}.session_token` }
}

/** The headers of the response that signs a browser out. The browser removes stored pages and responses of the person. */
export const signOutHeaders = (setCookie: string) => ({ 'set-cookie': setCookie, 'clear-site-data': '"cache"' })
