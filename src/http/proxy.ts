import type { IncomingMessage } from 'node:http'
import type { Context as HonoContext } from 'hono'
import { type Config, isLoopback } from '../platform/config.ts'

/**
 * Where a request comes from. `X-Forwarded-For` counts only behind a proxy
 * that the server was told of, and of it only the last address, which is the
 * one that this proxy itself has seen.
 */
export function addressOf(config: Pick<Config, 'trustProxy'>, c: HonoContext): string {
  const forwarded = config.trustProxy ? c.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  return forwarded || incoming?.socket.remoteAddress || 'unknown'
}

/** A link to this server under the name that the request came for; the gate has checked that name. */
export function linkTo(config: Pick<Config, 'trustProxy'>, header: (name: string) => string | undefined, path: string) {
  const isSecure = config.trustProxy && header('x-forwarded-proto') === 'https'
  return `${isSecure ? 'https' : 'http'}://${header('host') ?? 'localhost'}${path}`
}

/** The base of links for people: where the server is not on loopback, or behind a proxy, they know it by its name. */
export function urlForPeople(config: Config, url: string): string {
  const { host, trustProxy, allowedHosts } = config
  const name = isLoopback(host) && !trustProxy ? undefined : allowedHosts[0]
  if (name === undefined) return url
  return trustProxy ? `https://${name}` : `http://${name}:${new URL(url).port}`
}
