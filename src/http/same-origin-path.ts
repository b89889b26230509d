const ORIGIN = 'http://localhost'

/**
 * Returns the path and query of an address that a request named as the place to
 * continue at, or `/` if a browser would leave this server for it. The result is
 * parsed again as the browser does: `/.//evil.test` has the path `//evil.test`,
 * which as a `Location` is another host.
 */
export function sameOriginPath(next: string): string {
  const url = next.startsWith('/') ? URL.parse(next, ORIGIN) : null
  if (url?.origin !== ORIGIN) return '/'
  const path = url.pathname + url.search
  return URL.parse(path, ORIGIN)?.href === ORIGIN + path ? path : '/'
}
