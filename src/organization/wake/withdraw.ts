import type { Context } from '../../platform/context.ts'
import { dropWaitingWakes, findWaitingWake, updateWake } from './queries.ts'
import { parseReasons, type WakeSource } from './wake.ts'

/**
 * Removes the reasons of the given sources for one issue from the waiting wake
 * of an agent. A wake without remaining reasons is dropped.
 *
 * @param because the end of "it was to run, and was", which is stored with the dropped wake
 */
export function withdrawReasons(
  ctx: Context,
  of: { agentId: string; issueId: string; sources: readonly WakeSource[]; because: string },
): void {
  const waiting = findWaitingWake(ctx.db, { agentId: of.agentId })
  if (!waiting) return
  const reasons = parseReasons(waiting)
  const left = reasons.filter((reason) => reason.issueId !== of.issueId || !of.sources.includes(reason.source))
  if (left.length === reasons.length) return
  if (left.length === 0) {
    dropWaitingWakes(ctx.db, { agentId: of.agentId, reason: of.because, at: ctx.now })
    return
  }
  updateWake(ctx.db, {
    ...waiting,
    reasons: JSON.stringify(left),
    issue_id: left.find((reason) => reason.issueId !== null)?.issueId ?? null,
    updated_at: ctx.now,
  })
}
