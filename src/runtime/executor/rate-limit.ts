import type { AgentRow } from '../../organization/agent/agent.ts'
import { holdAgent } from '../../organization/agent/hold.ts'
import type { Context } from '../../platform/context.ts'

/** The first wait in milliseconds if a provider refuses and names no time. It doubles with each refusal. */
const FIRST_UNKNOWN_WAIT_MS = 60_000
const LONGEST_UNKNOWN_WAIT_MS = 15 * 60_000

/** The longest hold in milliseconds that a provider may name. The longest known limits are weekly. */
const LONGEST_HOLD_MS = 8 * 24 * 60 * 60_000

/**
 * Holds an agent until its provider accepts requests again. It holds the agent
 * and not the one wake, because the provider would refuse any other run too.
 *
 * @param until the end of the limit that the provider named, which may be past; null if it named none
 * @param leastMs the shortest wait in milliseconds, for a provider that names times in the past
 * @param refusals the number of consecutive refusals, this one included
 */
export function holdForRateLimit(
  ctx: Context,
  agent: AgentRow,
  { until, leastMs, refusals }: { until: string | null; leastMs: number; refusals: number },
): void {
  const namedMs = until === null ? Number.NaN : Date.parse(until) - Date.parse(ctx.now)
  const waitMs = Number.isNaN(namedMs)
    ? Math.min(FIRST_UNKNOWN_WAIT_MS * 2 ** (refusals - 1), LONGEST_UNKNOWN_WAIT_MS)
    : Math.min(Math.max(namedMs, leastMs), LONGEST_HOLD_MS)
  const heldUntil = new Date(Date.parse(ctx.now) + waitMs).toISOString()
  const because = Number.isNaN(namedMs)
    ? `The provider refuses requests and names no end. The server retries at ${heldUntil}, and later after each further refusal.`
    : `The provider refuses requests until ${heldUntil}.`
  holdAgent(ctx, agent, heldUntil, because)
}
