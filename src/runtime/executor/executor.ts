import { countLiveRuns, findRun, listLiveRuns } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import { requestStops } from '../../organization/run/stop.ts'
import type { Context } from '../../platform/context.ts'
import { isDatabaseFault } from '../../platform/database/write-queue.ts'
import { requestFolder } from '../../work/approval/folder.ts'
import type { Ending } from '../process/ending.ts'
import { followRun, type RunProcess } from '../process/follow.ts'
import { findShim, type ProcessIdentity } from '../process/process-table.ts'
import { runFolder } from '../process/run-files.ts'
import { killRun } from '../process/stop.ts'
import { recordChanges } from '../worktree/record-changes.ts'
import { createWorktrees } from '../worktree/worktrees.ts'
import { createFactRecorder, type FactRecorder, type FactSummary, NO_FACTS } from './facts.ts'
import { finishRun } from './finish.ts'
import { type LaunchDependencies, launchRun } from './launch.ts'
import { createLiveProcesses } from './live-processes.ts'
import { createPersist } from './persist.ts'
import { recordRunning } from './record-running.ts'
import type { RemoteRuns } from './remote-runs.ts'
import { toSystemFault } from './system-fault.ts'
import { type LimitReason, watchTimeLimits } from './time-limits.ts'

export interface Executor {
  /** Executes a claimed run from start to end. */
  execute(run: RunRow): void
  /**
   * Compares the live runs of the database with those that this server
   * follows. It adopts a run that is not followed, and stops a run whose
   * requested stop has had no effect.
   */
  reconcile(): void
  /** Resolves when this server follows no run. */
  idle(): Promise<void>
  /** Resolves when no followed run executes on this machine. */
  idleHere(): Promise<void>
  /**
   * Stops every run of this machine because the server stops, and waits until
   * they have ended. Runs in placements continue; the next server adopts them.
   *
   * @param onRemaining receives the number of live runs, at the beginning and after each end
   */
  stopAll(onRemaining?: (runs: number) => void): Promise<void>
  /** Resolves when the process of every run is recorded, so that the next server can adopt it. */
  launched(): Promise<void>
  /** Stops following the runs. Their processes continue, and the next server adopts them. */
  close(): Promise<void>
}

/** Creates the executor of runs: claim -> token -> workspace -> spawn -> wait or stop -> finish -> record -> publish. */
export function createExecutor(ctx: Context, dependencies: LaunchDependencies): Executor {
  const followed = new Map<string, Promise<void>>()
  /** The followed runs that execute on this machine. */
  const here = new Map<string, Promise<void>>()
  const launching = new Set<Promise<void>>()
  const processes = createLiveProcesses(ctx)
  const worktrees = createWorktrees(ctx)
  const persist = createPersist(ctx, () => isClosed || isStopping)
  let isClosed = false
  /** Once the server stops, a database that cannot be written is not waited for: the next start ends or adopts the runs. */
  let isStopping = false
  let remote: Promise<RemoteRuns> | undefined

  const removeHandler = ctx.signals.handle({
    stopRequested: (runId) => (followed.has(runId) ? processes.stop(runId) : reconcile()),
    budgetChanged: processes.updateBudgets,
  })

  function reconcile(): void {
    for (const run of listLiveRuns(ctx.db)) {
      if (!followed.has(run.id)) follow(run, adopt(run))
      else if (run.stop_reason) processes.stop(run.id)
    }
  }

  /** Tracks the work on a run until it ends. If the work fails, the run ends as lost. */
  function follow(run: RunRow, work: Promise<void>): void {
    const done = work
      .catch(async (error) => {
        // The database may be closed. The next server adopts the run.
        if (isClosed) return
        ctx.log.error('A run could not be followed to its end.', { runId: run.id, error: stackOf(error) })
        if (isStopping) return
        processes.remove(run.id)
        await killRun(run.id)
        await finish(run.id, LOST, NO_FACTS)
      })
      .catch((error) => ctx.log.error('The end of a run was not recorded.', { runId: run.id, error: stackOf(error) }))
      .finally(() => {
        followed.delete(run.id)
        here.delete(run.id)
      })
    followed.set(run.id, done)
    if (run.placement === null) here.set(run.id, done)
  }

  async function execute(run: RunRow): Promise<void> {
    const facts = createFactRecorder(ctx, run.id, persist)
    const launch = Promise.withResolvers<void>()
    launching.add(launch.promise)
    let started: Awaited<ReturnType<typeof launchRun>>
    try {
      const how = { persist, dependencies, worktrees, remoteRuns }
      started = await launchRun(ctx, run, facts.add, how)
      // On another machine, the run starts when that machine claims it.
      if ('process' in started && run.placement !== null) processes.add(started.process)
      else if ('process' in started) await recordStart(started.process)
    } finally {
      launching.delete(launch.promise)
      launch.resolve()
    }
    if ('ending' in started) {
      const { ending, folders } = started
      return persist(() => {
        finishRun(ctx, run.id, ending, NO_FACTS)
        for (const folder of folders) requestFolder(ctx, run, folder)
      })
    }
    // `never_started` means that the server died before the start. This server is alive, so its shim was lost.
    await untilFinished(run.id, started.process, facts, run.placement === null ? { never_started: 'lost' } : {})
  }

  function recordStart(process: RunProcess): Promise<void> {
    processes.add(process)
    return persist(() => recordRunning(ctx, process.runId, columnsOf(process.identity)))
  }

  /** Returns the runs in placements. Their code is loaded for the first run in a placement. */
  function remoteRuns(): Promise<RemoteRuns> {
    remote ??= dependencies.openRemoteRuns(ctx, { persist, tokens: dependencies.tokens })
    return remote
  }

  async function adoptRemote(run: RunRow): Promise<void> {
    const facts = createFactRecorder(ctx, run.id, persist)
    const process = await (await remoteRuns()).adopt(run, facts.add)
    processes.add(process)
    await untilFinished(run.id, process, facts)
  }

  async function adopt(run: RunRow): Promise<void> {
    if (run.placement !== null) return adoptRemote(run)
    // The run has no pid if the server died between the spawn and the commit. The run's marker still identifies the shim.
    const identity = identityOf(run) ?? findShim(run.id) ?? null
    const facts = createFactRecorder(ctx, run.id, persist)
    const process = followRun(
      { runId: run.id, runDir: runFolder(ctx.config, run.id), identity },
      { onFacts: facts.add },
    )
    processes.add(process)
    if (identity && run.status === 'starting') await persist(() => recordRunning(ctx, run.id, columnsOf(identity)))
    await untilFinished(run.id, process, facts)
  }

  async function untilFinished(
    runId: string,
    process: RunProcess,
    facts: FactRecorder,
    instead: Partial<Record<Ending['reason'], Ending['reason']>> = {},
  ): Promise<void> {
    // A read that fails for a moment must not end the run.
    const run = await persist(() => findRun(ctx.db, { id: runId }))
    let limit: LimitReason | undefined
    let isEnded = false
    let endWatch = () => {}
    const watch = () => {
      if (isEnded) return
      endWatch = watchTimeLimits(
        process.runDir,
        { timeoutSec: run?.timeout_sec ?? null, silenceSec: run?.silence_sec ?? null },
        (reason) => {
          limit = reason
          processes.stop(runId)
        },
      )
    }
    // The time in the queue of a placement does not count.
    if (process.begun) void process.begun.then(watch)
    else watch()
    try {
      // A stop that was requested before this server followed the process.
      if (run?.stop_reason) processes.stop(runId)
      const { reason, exitCode, signal, error, lastError, finishedAt } = await process.ended
      const isStoppedByServer = reason === 'stopped' || reason === 'lost'
      const ending: Ending = {
        reason: (isStoppedByServer && limit) || (instead[reason] ?? reason),
        exitCode,
        signal,
        error: (error && toSystemFault(error)) ?? error ?? null,
        lastError: lastError ?? null,
        at: finishedAt,
      }
      const changes = run && (await worktrees.changesOf(run))
      await persist(() => {
        finishRun(ctx, runId, ending, facts.summary())
        if (changes) recordChanges(ctx, runId, changes, ending)
      })
    } finally {
      isEnded = true
      endWatch()
      processes.remove(runId)
    }
  }

  const finish = (runId: string, ending: Ending, facts: FactSummary) =>
    persist(() => finishRun(ctx, runId, ending, facts))

  const untilEmpty = async (runs: ReadonlyMap<string, Promise<void>>) => {
    while (runs.size > 0) await Promise.all(runs.values())
  }

  return {
    execute: (run) => follow(run, execute(run)),
    reconcile,
    idle: () => untilEmpty(followed),
    idleHere: () => untilEmpty(here),
    async stopAll(onRemaining) {
      let stops: Promise<void>[] = []
      try {
        await ctx.write(() => requestStops(ctx, { isHere: true }, 'shutdown'))
      } catch (error) {
        if (!isDatabaseFault(error)) throw error
        stops = [...here.keys()].map(processes.stop)
      }
      // Not earlier: a follower that cannot write ends then, and its process could not be stopped any more.
      isStopping = true
      const removeListener = ctx.events.subscribe(({ type }) => {
        if (type === 'run.finished') onRemaining?.(countLiveRuns(ctx.db))
      })
      if (here.size > 0) onRemaining?.(here.size)
      await untilEmpty(here)
      await Promise.all(stops)
      removeListener()
    },
    launched: async () => {
      isStopping = true
      await Promise.all(launching)
    },
    async close() {
      isClosed = true
      removeHandler()
      processes.close()
      await (await remote)?.close()
    },
  }
}

const columnsOf = (identity: ProcessIdentity | null) => ({
  pid: identity?.pid ?? null,
  pid_started: identity?.startTime ?? null,
  boot_id: identity?.bootId ?? null,
})

const LOST: Ending = { reason: 'lost', exitCode: null, signal: null, error: null, at: null }

const stackOf = (error: unknown) => String((error as Error)?.stack ?? error)

const identityOf = (run: RunRow): ProcessIdentity | undefined =>
  run.pid === null || run.pid_started === null || run.boot_id === null
    ? undefined
    : { pid: run.pid, startTime: run.pid_started, bootId: run.boot_id }
