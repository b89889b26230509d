import { countLiveRuns, findRun } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { markedProcesses } from '../process/process-table.ts'
import { killRun } from '../process/stop.ts'
import type { Executor } from './executor.ts'

/**
 * Takes over the runs of a server that was killed. It adopts a run whose
 * process lives. It finishes a run that ended meanwhile with the exit that its
 * shim recorded, and ends a run without a process as `lost`. It kills the
 * processes that outlived their run.
 */
export async function rescueRuns(ctx: Context, executor: Executor): Promise<void> {
  const runs = countLiveRuns(ctx.db)
  executor.reconcile()
  if (runs > 0) ctx.log.info('The runs of the previous server are adopted or ended.', { runs })
  for (const runId of markedProcesses().keys()) {
    // Run ids are unique: a run that is not in this database belongs to another server of the machine.
    const run = findRun(ctx.db, { id: runId })
    if (run && run.finished_at !== null) await killRun(runId)
  }
}
