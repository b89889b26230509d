import { AppError } from '../platform/errors.ts'

/** The parts of a request that the gate checks, unparsed. */
export interface RawRequest {
  method: string
  /** The request target, unparsed. */
  target: string
  /** Names and values in turn, as in Node's `rawHeaders`: repeated headers are all included. */
  rawHeaders: readonly string[]
}

export type Gate = (request: RawRequest) => AppError | undefined

/**
 * Creates the gate: it decides, before routing and parsing and in every mode,
 * whether a request may reach the server. A web page that the user has open in
 * a browser must not be able to control a server on the user's machine: not
 * with a form, not with a name that it rebinds to loopback (DNS rebinding), and
 * not from another local port.
 *
 * The allowed values of `Host` and `Origin` are computed at the start, so the
 * gate never compares one value of a request with another value of the same
 * request.
 *
 * @param hosts the `Host` values of this server, such as `localhost:3100`
 */
export function createCrossSiteGate(hosts: readonly string[]): Gate {
  const allowedHosts = new Set(hosts.map((host) => host.toLowerCase()))
  const allowedOrigins = new Set([...allowedHosts].flatMap((host) => [`http://${host}`, `https://${host}`]))

  return ({ method, target, rawHeaders }) => {
    const seen = { host: [] as string[], origin: [] as string[], site: [] as string[], mode: '', dest: '' }
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const value = rawHeaders[i + 1]!
      switch (rawHeaders[i]!.toLowerCase()) {
        case 'host':
          seen.host.push(value)
          break
        case 'origin':
          seen.origin.push(value)
          break
        case 'sec-fetch-site':
          seen.site.push(value)
          break
        case 'sec-fetch-mode':
          seen.mode = value
          break
        case 'sec-fetch-dest':
          seen.dest = value
          break
      }
    }
    if (!target.startsWith('/')) return new AppError('validation_failed', 'The request target must be a path.')
    if (seen.host.length !== 1) return new AppError('validation_failed', 'A request needs exactly one Host header.')
    if (!allowedHosts.has(seen.host[0]!.toLowerCase()))
      return refused('The server does not accept this Host header. Use the URL that the server printed at its start.')
    if (seen.origin.length > 1 || seen.origin.some((origin) => !allowedOrigins.has(origin.toLowerCase())))
      return refused('The server refuses requests from other web origins.')
    if (seen.site.some((site) => site !== 'same-origin' && site !== 'none')) {
      const opensThePage =
        method === 'GET' && seen.mode === 'navigate' && seen.dest === 'document' && isPagePath(target)
      if (!opensThePage) return refused('The server refuses requests that another web site starts.')
    }
    return undefined
  }
}

/**
 * Whether a router resolves a request target to the web page instead of the
 * API. A target that becomes `/api` only after its dots or escapes are resolved
 * belongs to the API.
 */
function isPagePath(target: string): boolean {
  const path = URL.parse(`http://localhost${target}`)?.pathname ?? '/api'
  return !/^\/api(\/|$)/i.test(path) && !path.includes('%') && !path.startsWith('//')
}

const refused = (message: string) => new AppError('gate_refused', message)

/** Returns the `Host` values of a server on a port of this machine, and of its configured names. */
export function hostsOf(port: number, names: readonly string[]): string[] {
  const local = ['localhost', '127.0.0.1', '[::1]']
  const withPort = [...local, ...names].map((name) => `${name}:${port}`)
  // Clients omit the default port. A name behind a proxy has the port of the proxy, or none.
  return [...withPort, ...names, ...(port === 80 ? local : [])]
}

/**
 * The security headers of every response, unless a route overrides them: no
 * framing, no content sniffing, no caching, no referrer.
 */
export const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
]
