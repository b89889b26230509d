import { publishEvent } from '../../access/activity/live-events.ts'
import type { Context } from '../../platform/context.ts'
import { findRun, listLiveRuns, updateRun } from './queries.ts'
import type { RunRow } from './run.ts'

export type StopReason = NonNullable<RunRow['stop_reason']>

/**
 * Requests the stop of a live run. The executor ends its processes after the
 * commit. A later reason does not replace the first one. A no-op for a run that has ended.
 */
export function requestStop(ctx: Context, runId: string, reason: StopReason): RunRow | undefined {
  const run = findRun(ctx.db, { id: runId })
  if (!run || run.finished_at !== null) return run
  const stopped = run.stop_reason ? run : updateRun(ctx.db, run.id, { stop_reason: reason })
  ctx.afterCommit(() => {
    ctx.signals.stopRequested(runId)
    publishEvent(ctx, run.company_id, 'run.stopping', () => ({ runId, reason: stopped.stop_reason }))
  })
  return stopped
}

/**
 * Requests the stop of all live runs of an agent, a company or the server, in
 * the transaction of the cause. A server that crashes right after the commit
 * stops them after its restart.
 *
 * @returns the number of runs
 */
export function requestStops(
  ctx: Context,
  which: { agentId?: string; companyId?: string; isHere?: true },
  reason: StopReason,
): number {
  const live = listLiveRuns(ctx.db, which)
  for (const run of live) requestStop(ctx, run.id, reason)
  return live.length
}
