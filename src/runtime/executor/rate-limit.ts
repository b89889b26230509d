import type { AgentRow } from '../../organization/agent/agent.ts'
import { holdAgent } from '../../organization/agent/hold.ts'
import type { Context } from '../../platform/context.ts'

/** The first wait when a provider refuses without saying until when, in milliseconds; it doubles with each refusal. */
const FIRST_UNKNOWN_WAIT_MS = 60_000
const LONGEST_UNKNOWN_WAIT_MS = 15 * 60_000

/** A provider that says later than that is not believed, in milliseconds: the longest limits are weekly. */
const LONGEST_HOLD_MS = 8 * 24 * 60 * 60_000

/**
 * Holds an agent until its provider will serve it again. The agent is held and
 * not the one wake: whatever wakes it meanwhile would be refused as well.
 *
 * @param until when the provider says, if it says; it may be past
 * @param leastMs no less than that, so that one whose moments are always past is not asked again and again
 * @param refusals how often in a row the provider has refused, this time included
 */
export function holdForRateLimit(
  ctx: Context,
  agent: AgentRow,
  { until, leastMs, refusals }: { until: string | null; leastMs: number; refusals: number },
): void {
  const said = until === null ? Number.NaN : Date.parse(until) - Date.parse(ctx.now)
  const waitMs = Number.isNaN(said)
    ? Math.min(FIRST_UNKNOWN_WAIT_MS * 2 ** (refusals - 1), LONGEST_UNKNOWN_WAIT_MS)
    : Math.min(Math.max(said, leastMs), LONGEST_HOLD_MS)
  const heldUntil = new Date(Date.parse(ctx.now) + waitMs).toISOString()
  const because = Number.isNaN(said)
    ? `Its provider refuses it and does not say until when; it is tried again at ${heldUntil}, and after longer waits if it is refused again.`
    : `Its provider refuses it until ${heldUntil}.`
  holdAgent(ctx, agent, heldUntil, because)
}
