const ORIGIN = 'http://localhost'

/**
 * Returns the path and query of the address at which a request asked to
 * continue, or `/` if the address leads to another host. The result is parsed
 * again as a browser would: `/.//evil.test` has the path `//evil.test`, which
 * as a `Location` is another host.
 */
export function sameOriginPath(next: string): string {
  const url = next.startsWith('/') ? URL.parse(next, ORIGIN) : null
  if (url?.origin !== ORIGIN) return '/'
  const path = url.pathname + url.search
  return URL.parse(path, ORIGIN)?.href === ORIGIN + path ? path : '/'
}
