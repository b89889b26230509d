import { type Config, isLoopback } from '../platform/config.ts'
import type { HttpRequest } from './handler.ts'

/**
 * Returns the address of the client. `X-Forwarded-For` counts only if the
 * server is configured with a proxy, and then only its last address, which that
 * proxy itself has seen.
 */
export function addressOf(config: Pick<Config, 'trustProxy'>, request: HttpRequest): string {
  const forwarded = config.trustProxy ? request.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded || request.address || 'unknown'
}

/** Returns a link to this server under the host name of the request. The gate has checked that name. */
export function linkTo(config: Pick<Config, 'trustProxy'>, header: (name: string) => string | undefined, path: string) {
  const isSecure = config.trustProxy && header('x-forwarded-proto') === 'https'
  return `${isSecure ? 'https' : 'http'}://${header('host') ?? 'localhost'}${path}`
}

/**
 * Returns the base URL of links for people: if the server is not on loopback,
 * or is behind a proxy, its first allowed host name.
 */
export function urlForPeople(config: Config, url: string): string {
  const { host, trustProxy, allowedHosts } = config
  const name = isLoopback(host) && !trustProxy ? undefined : allowedHosts[0]
  if (name === undefined) return url
  return trustProxy ? `https://${name}` : `http://${name}:${new URL(url).port}`
}
