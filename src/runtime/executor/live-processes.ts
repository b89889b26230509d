import { leftToSpend } from '../../organization/budget/enforce.ts'
import { costsOfRuns, findRun, listLiveRuns } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { isDatabaseFault } from '../../platform/database/write-queue.ts'
import type { RunProcess } from '../process/follow.ts'
import { writeBudget } from '../process/run-files.ts'
import { stopRun } from '../process/stop.ts'

/** The processes of the live runs that this server follows. */
export interface LiveProcesses {
  add(process: RunProcess): void
  /** Stops following the process of a run. The process itself continues. */
  remove(runId: string): void
  /** Stops the processes of a run and resolves when they have ended, at once if the run has no process here. */
  stop(runId: string): Promise<void>
  /** Writes the current budget of each live run of a company to its shim. */
  updateBudgets(companyId: string): void
  close(): void
}

/** Creates the empty set of followed processes. */
export function createLiveProcesses(ctx: Context): LiveProcesses {
  const processes = new Map<string, RunProcess>()
  const stopping = new Map<string, Promise<void>>()

  async function stop(process: RunProcess): Promise<void> {
    const { runId } = process
    try {
      const graceSec = graceOf(runId)
      await (process.stop ? process.stop(graceSec) : stopRun(process, graceSec))
    } catch (error) {
      ctx.log.error('A run was not stopped.', { runId, error: String((error as Error)?.stack ?? error) })
    }
  }

  /** Reads the grace of a run, in seconds; none if the database cannot be read. */
  function graceOf(runId: string): number {
    try {
      return findRun(ctx.db, { id: runId })?.grace_sec ?? 0
    } catch (error) {
      if (isDatabaseFault(error)) return 0
      throw error
    }
  }

  return {
    add: (process) => void processes.set(process.runId, process),
    remove(runId) {
      processes.get(runId)?.close()
      processes.delete(runId)
    },
    async stop(runId) {
      const process = processes.get(runId)
      if (process && !stopping.has(runId)) {
        stopping.set(
          runId,
          stop(process).finally(() => stopping.delete(runId)),
        )
      }
      await stopping.get(runId)
    },
    updateBudgets(companyId) {
      for (const run of listLiveRuns(ctx.db, { companyId })) {
        const process = processes.get(run.id)
        if (!process) continue
        const left = leftToSpend(ctx, { companyId, agentId: run.agent_id })
        const spent = costsOfRuns(ctx.db, [run.id]).get(run.id)?.cost_micros ?? 0
        writeBudget(process.runDir, { budgetMicros: left === null ? null : left + spent })
      }
    },
    close() {
      for (const process of processes.values()) process.close()
    },
  }
}
