import { AppError } from '../platform/errors.ts'

/** The parts of a request that the gate looks at, as they came over the wire. */
export interface RawRequest {
  method: string
  /** The request target, unparsed. */
  target: string
  /** Names and values in turn, as Node keeps them: repeated headers are still there. */
  rawHeaders: readonly string[]
}

export type Gate = (request: RawRequest) => AppError | undefined

/**
 * Decides whether a request may reach the server at all, before anything is
 * routed or parsed, in every mode. A web page that the user happens to have
 * open must not be able to drive a server on the user's own machine: not by a
 * form, not by a name that it rebinds to loopback, not from another local port.
 * Both lists are made at the start, so that nothing the attacker sends is
 * compared with something else the attacker sends.
 *
 * @param hosts the `Host` values that mean this server, such as `localhost:3100`
 */
export function createGate(hosts: readonly string[]): Gate {
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
      return refused('This server does not answer to that Host. Use the URL that it printed at its start.')
    if (seen.origin.length > 1 || seen.origin.some((origin) => !allowedOrigins.has(origin.toLowerCase())))
      return refused('Requests from other web origins are refused.')
    if (seen.site.some((site) => site !== 'same-origin' && site !== 'none')) {
      const opensThePage =
        method === 'GET' && seen.mode === 'navigate' && seen.dest === 'document' && isOfThePage(target)
      if (!opensThePage) return refused('Requests that another web site starts are refused.')
    }
    return undefined
  }
}

/**
 * Whether a target is the page's and not the API's, as a router sees it: one
 * that only becomes `/api` by its dots or escapes is the API's.
 */
function isOfThePage(target: string): boolean {
  const path = URL.parse(`http://localhost${target}`)?.pathname ?? '/api'
  return !/^\/api(\/|$)/i.test(path) && !path.includes('%') && !path.startsWith('//')
}

const refused = (message: string) => new AppError('gate_refused', message)

/** The `Host` values of a server on a port of this machine, and of its configured names. */
export function hostsOf(port: number, names: readonly string[]): string[] {
  const local = ['localhost', '127.0.0.1', '[::1]']
  const withPort = [...local, ...names].map((name) => `${name}:${port}`)
  // A client leaves the default port out; a name behind a proxy has the proxy's port, or none.
  return [...withPort, ...names, ...(port === 80 ? local : [])]
}

/** Sent with every answer: nothing here is to be framed, sniffed, cached or referred from, unless a route says so. */
export const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Cache-Control', 'no-store'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
]
