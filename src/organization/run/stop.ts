import type { Context } from '../../platform/context.ts'
import { findRun, listLiveRuns, updateRun } from './queries.ts'
import type { RunRow } from './run.ts'

export type StopReason = NonNullable<RunRow['stop_reason']>

/**
 * Marks a live run to be stopped; the executor ends its processes once that is
 * durable. The first reason stands: an ending has one cause. Does nothing to a
 * run that has ended.
 */
export function requestStop(ctx: Context, runId: string, reason: StopReason): RunRow | undefined {
  const run = findRun(ctx.db, { id: runId })
  if (!run || run.finished_at !== null) return run
  const stopped = run.stop_reason ? run : updateRun(ctx.db, run.id, { stop_reason: reason })
  ctx.afterCommit(() => {
    ctx.signals.stopRequested(runId)
    ctx.events.publish(run.company_id, 'run.stopping', () => ({ runId, reason: stopped.stop_reason }))
  })
  return stopped
}

/**
 * Marks all live runs of an agent, of a company or of everybody to be stopped,
 * in the transaction that says why: a server that dies the moment after stops
 * them when it is back.
 *
 * @returns how many there are
 */
export function requestStops(
  ctx: Context,
  which: { agentId?: string; companyId?: string },
  reason: StopReason,
): number {
  const live = listLiveRuns(ctx.db, which)
  for (const run of live) requestStop(ctx, run.id, reason)
  return live.length
}
