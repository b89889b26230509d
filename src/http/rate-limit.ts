import { isIPv6 } from 'node:net'
import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'

/** The rate limits: `times` within `seconds`, for each key. */
export const RATE_LIMITS = {
  /** Sign-in attempts to any account from one network. */
  'sign-in of an address': { times: 50, seconds: 15 * 60 },
  /** Sign-in attempts to one account from one network. */
  'sign-in': { times: 10, seconds: 15 * 60 },
  /** Sign-in attempts to one account from all networks. Above this limit, the next limit applies to each network. */
  'sign-in of an account': { times: 100, seconds: 60 * 60 },
  /**
   * Sign-in attempts from one network to an account under attack. The limit is
   * lower than usual but not zero, so that attackers from many networks cannot
   * lock out the owner, who uses another network.
   */
  'sign-in under attack': { times: 3, seconds: 15 * 60 },
  /** Attempts to use a setup or invitation link from one network. */
  link: { times: 30, seconds: 15 * 60 },
  key: { times: 20, seconds: 60 * 60 },
  invitation: { times: 50, seconds: 60 * 60 },
} as const

export type RateLimit = keyof typeof RATE_LIMITS

/** The limits of a client's network. An endpoint that names one applies it before the body is read. */
const LIMITS_OF_NETWORK: readonly RateLimit[] = ['sign-in of an address', 'link']

export const isLimitOfNetwork = (limit: RateLimit) => LIMITS_OF_NETWORK.includes(limit)

/** Counts attempts in memory. A restart resets the counters. */
export interface RateCounter {
  /**
   * Counts an attempt if it is allowed now.
   *
   * @returns 0, or the milliseconds until the next allowed attempt
   */
  take(limit: RateLimit, who: string, now: number): number
}

/** The maximum number of counters for each limit, so that invented names cannot fill the memory. */
const MAX_COUNTERS = 10_000

/**
 * Creates the counters. Each limit has its own map. A full map removes an
 * expired counter or else the one with the fewest attempts. Invented names have
 * one attempt each, so they evict each other and not the counter of an account
 * under attack.
 */
export function createRateCounter(maxCounters = MAX_COUNTERS): RateCounter {
  const counters = new Map<RateLimit, Map<string, number[]>>()
  return {
    take(limit, who, now) {
      const { times, seconds } = RATE_LIMITS[limit]
      const since = now - seconds * 1_000
      const seen = counters.get(limit) ?? new Map<string, number[]>()
      counters.set(limit, seen)
      const recent = (seen.get(who) ?? []).filter((at) => at > since)
      if (recent.length >= times) return recent[0]! + seconds * 1_000 - now
      if (seen.size >= maxCounters && !seen.has(who)) evictOne(seen, since)
      seen.set(who, [...recent, now])
      return 0
    },
  }
}

function evictOne(seen: Map<string, number[]>, since: number): void {
  let fewest: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const [who, tries] of seen) {
    const count = tries.at(-1)! > since ? tries.length : 0
    if (count >= least) continue
    fewest = who
    least = count
    if (count === 0) break
  }
  seen.delete(fewest!)
}

/**
 * Counts an attempt, and refuses it if the limit is exceeded. Local trusted
 * mode has no rate limits.
 *
 * @throws AppError 429 with `retryAfterSec`
 */
export function limitRate(ctx: Context, rates: RateCounter, limit: RateLimit, who: string): void {
  if (ctx.config.mode === 'local_trusted') return
  const wait = rates.take(limit, who, Date.parse(ctx.now))
  if (wait === 0) return
  const retryAfterSec = Math.ceil(wait / 1_000)
  throw new AppError('rate_limited', `Too many requests. Retry in ${retryAfterSec} seconds.`, { retryAfterSec })
}

/** The longest address of a client in a header, in characters: an IPv6 address with its zone and port has about 60. */
const MAX_ADDRESS = 100

/**
 * Returns the network that an address belongs to: an IPv4 address itself, or the
 * /64 of an IPv6 address, since one customer has at least that many addresses.
 */
export function networkOf(address: string): string {
  // Some proxies include the port of the client, which differs for each connection.
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  const plain = address.slice(0, MAX_ADDRESS).replace(/^\[|\](:\d+)?$|%.*$/g, '')
  if (!isIPv6(plain)) return address
  // The URL parser normalizes each group and writes the longest run of zeros as `::`.
  const [head = '', tail = ''] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
  const zeros = Array.from({ length: 8 - groupsOf(head).length - groupsOf(tail).length }, () => '0')
  const groups = [...groupsOf(head), ...zeros, ...groupsOf(tail)]
  return `${groups.slice(0, 4).join(':')}::/64`
}
