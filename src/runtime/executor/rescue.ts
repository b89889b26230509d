import { findRun, listLiveRuns } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { findShim, markedProcesses, type ProcessIdentity } from '../process/process-table.ts'
import { sweepRun } from '../process/stop.ts'
import type { Executor } from './executor.ts'

/**
 * Looks after what a server that was killed left: a run whose process lives is
 * adopted and its real end recorded; one that ended meanwhile is settled by
 * what it left behind; one that is gone ends as `lost`. A process that outlived
 * its own run is ended.
 */
export async function rescueRuns(ctx: Context, executor: Executor): Promise<void> {
  const orphans = listLiveRuns(ctx.db)
  for (const run of orphans) {
    // The pid may be missing: the server died between the spawn and noting it. The marker still tells.
    executor.adopt(run, identityOf(run) ?? findShim(run.id) ?? null)
  }
  if (orphans.length > 0) ctx.log.info('Runs of the server before this one are looked after.', { runs: orphans.length })
  for (const runId of markedProcesses().keys()) {
    // Run ids are unique over all servers of the machine: one that is not in this database is another's.
    const run = findRun(ctx.db, { id: runId })
    if (run && run.finished_at !== null) await sweepRun(runId)
  }
}

const identityOf = (run: RunRow): ProcessIdentity | undefined =>
  run.pid === null || run.pid_started === null || run.boot_id === null
    ? undefined
    : { pid: run.pid, startTime: run.pid_started, bootId: run.boot_id }
