import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'

/** How often something may be done by one who does it, within so many seconds. */
export const RATE_LIMITS = {
  /** Guesses at one account from one address. */
  'sign-in': { times: 10, seconds: 15 * 60 },
  /** Guesses at any accounts from one address. */
  'sign-in of an address': { times: 50, seconds: 15 * 60 },
  /** Guesses at one account from everywhere. */
  'sign-in of an account': { times: 100, seconds: 60 * 60 },
  /** Tries of a setup or invitation link from one address. */
  link: { times: 30, seconds: 15 * 60 },
  key: { times: 20, seconds: 60 * 60 },
  invitation: { times: 50, seconds: 60 * 60 },
} as const

export type RateLimit = keyof typeof RATE_LIMITS

/** Counts what is done, in memory: a restart forgives. */
export interface RateCounter {
  /** @returns in how many milliseconds the next try is allowed; 0 is now, and is counted */
  take(limit: RateLimit, who: string, now: number): number
}

/** How many are remembered who did something, so that a flood of made-up names cannot fill the memory. */
const REMEMBERED = 10_000

export function createRateCounter(): RateCounter {
  const seen = new Map<string, number[]>()
  return {
    take(limit, who, now) {
      const { times, seconds } = RATE_LIMITS[limit]
      const key = `${limit}\n${who}`
      const recent = (seen.get(key) ?? []).filter((at) => at > now - seconds * 1_000)
      // The oldest entry is the one that is forgotten, so whoever is active moves to the end.
      seen.delete(key)
      if (seen.size >= REMEMBERED) seen.delete(seen.keys().next().value!)
      seen.set(key, recent)
      if (recent.length >= times) return recent[0]! + seconds * 1_000 - now
      recent.push(now)
      return 0
    },
  }
}

/**
 * Counts an attempt, and refuses it if there were too many. Local trusted mode has no rate limits.
 *
 * @throws AppError 429 with `retryAfterSec`
 */
export function limitRate(ctx: Context, rates: RateCounter, limit: RateLimit, who: string): void {
  if (ctx.config.mode === 'local_trusted') return
  const wait = rates.take(limit, who, Date.parse(ctx.now))
  if (wait === 0) return
  const retryAfterSec = Math.ceil(wait / 1_000)
  throw new AppError('rate_limited', `Too often. Try again in ${retryAfterSec} seconds.`, { retryAfterSec })
}
