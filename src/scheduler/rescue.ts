import type { Context } from '../context.ts'
import { runFolder } from '../run/log.ts'
import { findRun, listLiveRuns } from '../run/queries.ts'
import type { RunRow } from '../run/run.ts'
import type { Executor } from './executor.ts'
import { adoptRun, sweep } from './process.ts'
import { markedProcesses, type ProcessIdentity } from './process-table.ts'

/**
 * Looks after what a server that was killed left: a run whose process lives is
 * adopted and its real end recorded; one that ended meanwhile is settled by
 * what it left behind; one that is gone ends as `lost`. A process that outlived
 * its own run is ended.
 *
 * @returns how many runs were found, and how many of them live
 */
export async function rescueRuns(ctx: Context, executor: Executor): Promise<{ found: number; alive: number }> {
  const orphans = listLiveRuns(ctx.db)
  const marked = markedProcesses()
  let alive = 0
  for (const run of orphans) {
    // The pid may be missing: the server died between the spawn and noting it. The marker still tells.
    const process = identityOf(run) ?? marked.get(run.id)?.[0]
    if (marked.has(run.id)) alive++
    executor.adopt(run, adoptRun(run.id, process, runFolder(ctx.config, run.id)))
  }
  for (const runId of marked.keys()) {
    // Run ids are unique over all servers of the machine: one that is not in this database is another's.
    const run = findRun(ctx.db, { id: runId })
    if (run && run.finished_at !== null) await sweep(runId)
  }
  return { found: orphans.length, alive }
}

const identityOf = (run: RunRow): ProcessIdentity | undefined =>
  run.pid === null || run.pid_started === null || run.boot_id === null
    ? undefined
    : { pid: run.pid, startTime: run.pid_started, bootId: run.boot_id }
