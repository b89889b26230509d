import type { Fact } from './adapter.ts'
import { resetTime } from './reset-time.ts'
import { cut } from './usage.ts'

/** How long a program may retry requests that the provider refuses because of a rate limit, in milliseconds. */
const PATIENCE_MS = 20_000

/**
 * Watches a program that retries requests beyond a rate limit itself, for
 * minutes, or silently for as long as the provider says. A short limit passes
 * meanwhile. After a longer one the run ends, and its agent is held.
 */
export interface RefusalWatch {
  /** Notes a refusal because of a rate limit. */
  refused(message: string): void
  /** Notes that the provider responded. */
  accepted(): void
  /** Returns the facts that end the run, once, if the refusals last too long. */
  facts(): Fact[]
}

/** Returns the outcome of a run whose credentials the provider refuses (401, 403). A retry cannot succeed. */
export const unauthorized = (cause: string): Fact => ({
  kind: 'outcome',
  ok: false,
  code: 'unauthorized',
  message: `The provider refuses the credentials: ${cause}. Check the key or the login of the program.`,
})

/** Creates a watch without refusals. */
export function createRefusalWatch(now: () => number): RefusalWatch {
  let since: number | null = null
  let last = ''
  return {
    refused(message) {
      since ??= now()
      last = message
    },
    accepted() {
      since = null
    },
    facts() {
      if (since === null || now() - since < PATIENCE_MS) return []
      since = null
      const message = cut(`The provider refuses requests: ${last}`)
      return [
        { kind: 'rate_limited', until: resetTime(last, now()) },
        { kind: 'outcome', ok: false, code: 'rate_limited', message },
        { kind: 'give_up' },
      ]
    },
  }
}
