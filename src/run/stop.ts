import type { Context } from '../context.ts'
import { findRun, updateRun } from './queries.ts'
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
  ctx.afterCommit(() =>
    ctx.events.publish({
      companyId: run.company_id,
      type: 'run.stopping',
      data: { runId, reason: stopped.stop_reason },
    }),
  )
  return stopped
}
