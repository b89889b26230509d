import { publishEvent } from '../../access/activity/live-events.ts'
import { updateRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'

/** Records that the command of a run starts, in the current transaction. */
export function recordRunning(
  ctx: Context,
  runId: string,
  where: Partial<Pick<RunRow, 'pid' | 'pid_started' | 'boot_id' | 'job_node' | 'job_waiting'>>,
): void {
  const run = updateRun(ctx.db, runId, { ...where, status: 'running', started_at: ctx.now })
  const data = { runId, agentId: run.agent_id }
  ctx.afterCommit(() => publishEvent(ctx, run.company_id, 'run.running', () => data))
}
