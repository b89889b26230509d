import { countLiveRuns, findRun } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { markedProcesses } from '../process/process-table.ts'
import { sweepRun } from '../process/stop.ts'
import type { Executor } from './executor.ts'

/**
 * Takes over the runs of a server that was killed. A run whose process lives
 * is adopted and ends as usual. A run that ended meanwhile is finished with
 * what its shim recorded. A run that is gone ends as `lost`. A process that
 * outlived its own run is killed.
 */
export async function rescueRuns(ctx: Context, executor: Executor): Promise<void> {
  const runs = countLiveRuns(ctx.db)
  executor.reconcile()
  if (runs > 0) ctx.log.info('The runs of the previous server are adopted or ended.', { runs })
  for (const runId of markedProcesses().keys()) {
    // Run ids are unique over all servers of the machine: a run that is not in this database is another server's.
    const run = findRun(ctx.db, { id: runId })
    if (run && run.finished_at !== null) await sweepRun(runId)
  }
}
