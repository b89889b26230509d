import type { Fact } from '../adapter/adapter.ts'
import type { Context } from '../context.ts'
import { bookFacts, summarizeFacts } from '../run/facts.ts'
import { runFolder } from '../run/log.ts'
import { NotStartable, type PreparedRun, prepareRun, type RunSurroundings } from '../run/prepare.ts'
import { findRun, listLiveRuns, updateRun } from '../run/queries.ts'
import type { RunRow } from '../run/run.ts'
import { type Ending, settleRun } from '../run/settle.ts'
import { requestStop } from '../run/stop.ts'
import { readFacts } from './facts-file.ts'
import { type RunProcess, spawnRun, stopRun } from './process.ts'
import type { ProcessIdentity } from './process-table.ts'

export interface Executor {
  /** Executes a claimed run, start to end. */
  execute(run: RunRow): void
  /** Takes over a run whose process outlived the server that started it. */
  adopt(run: RunRow, process: RunProcess): void
  /** Resolves when no run is under way. */
  idle(): Promise<void>
  /** Stops every run for the server's own stop, and waits until they are gone. */
  stopAll(): Promise<void>
  /** Lets go of the runs: they go on by themselves, for the next server to adopt. */
  close(): void
}

/** Carries runs out: claim -> token -> workspace -> spawn -> wait or stop -> settle -> record -> announce. */
export function createExecutor(ctx: Context, around: RunSurroundings & { shim: string[] }): Executor {
  const underWay = new Map<string, Promise<void>>()
  const processes = new Map<string, { process: RunProcess; graceSec: number }>()

  const unsubscribe = ctx.events.subscribe((event) => {
    if (event.type === 'run.stopping') stop((event.data as { runId: string }).runId)
    if (event.type === 'agent.stopped')
      stopRunsOf(event.data as { agentId: string; reason: 'paused' | 'terminated' | 'budget' })
  })

  function track(run: RunRow, work: Promise<void>) {
    const done = work
      .catch((error) =>
        ctx.log.error('A run could not be settled.', { runId: run.id, error: String(error?.stack ?? error) }),
      )
      .finally(() => underWay.delete(run.id))
    underWay.set(run.id, done)
  }

  async function carryOut(run: RunRow): Promise<void> {
    let prepared: PreparedRun
    try {
      prepared = await prepareRun(ctx, run, await ctx.tokens.sign(toClaims(run)), around)
    } catch (error) {
      return settle(run.id, notStarted(ctx, run, error), [])
    }
    // Looked at again just before the spawn: a stop that came meanwhile found no process to stop.
    if (findRun(ctx.db, { id: run.id })?.stop_reason) return settle(run.id, STOPPED_IN_TIME, [])
    await ctx.write(() => noteIntent(ctx, run.id, prepared))
    const process = await spawnRun(prepared.spec, { shim: around.shim, folder: runFolder(ctx.config, run.id) })
    await ctx.write(() => noteRunning(ctx, run.id, process.identity))
    await watch(run, process, prepared.spec.graceSec)
  }

  async function watch(run: RunRow, process: RunProcess, graceSec: number): Promise<void> {
    processes.set(run.id, { process, graceSec })
    try {
      process.onFacts((facts) => {
        ctx
          .write(() => bookFacts(ctx, run.id, facts))
          .catch((error) => ctx.log.error('Facts of a run were not booked.', { runId: run.id, error: String(error) }))
      })
      if (findRun(ctx.db, { id: run.id })?.stop_reason) stop(run.id)
      const ending = await process.ended
      await settle(run.id, ending, readFacts(runFolder(ctx.config, run.id)))
    } finally {
      processes.delete(run.id)
      process.close()
    }
  }

  async function settle(runId: string, ending: Ending, facts: Fact[]): Promise<void> {
    await ctx.write(() => {
      bookFacts(ctx, runId, facts)
      settleRun(ctx, runId, ending, summarizeFacts(facts))
    })
  }

  function stop(runId: string) {
    const running = processes.get(runId)
    if (!running) return
    stopRun(runId, running.process.identity, running.graceSec).catch((error) =>
      ctx.log.error('A run was not stopped.', { runId, error: String(error) }),
    )
  }

  function stopRunsOf({ agentId, reason }: { agentId: string; reason: 'paused' | 'terminated' | 'budget' }) {
    ctx
      .write(() => {
        for (const run of listLiveRuns(ctx.db, { agentId })) requestStop(ctx, run.id, reason)
      })
      .catch((error) => ctx.log.error('Runs of a stopped agent were not stopped.', { agentId, error: String(error) }))
  }

  const idle = async () => {
    while (underWay.size > 0) await Promise.all(underWay.values())
  }

  return {
    execute: (run) => track(run, carryOut(run)),
    adopt: (run, process) => track(run, watch(run, process, run.grace_sec ?? 0)),
    idle,
    async stopAll() {
      await ctx.write(() => {
        for (const run of listLiveRuns(ctx.db)) requestStop(ctx, run.id, 'shutdown')
      })
      await idle()
    },
    close() {
      unsubscribe()
      for (const { process } of processes.values()) process.close()
    },
  }
}

const toClaims = (run: RunRow) => ({ id: run.id, agentId: run.agent_id, companyId: run.company_id })

const STOPPED_IN_TIME: Ending = { reason: 'stopped', exitCode: null, signal: null, error: null }

/** What the run is about to be, kept before there is a process: a server after a crash knows what to look for. */
const noteIntent = (ctx: Context, runId: string, { spec, instructionsHash }: PreparedRun) =>
  updateRun(ctx.db, runId, {
    cwd: spec.cwd,
    instructions_hash: instructionsHash,
    grace_sec: spec.graceSec,
    session_id_before: spec.session?.id ?? null,
  })

function noteRunning(ctx: Context, runId: string, identity: ProcessIdentity | undefined): void {
  const run = updateRun(ctx.db, runId, {
    status: 'running',
    pid: identity?.pid ?? null,
    pid_started: identity?.startTime ?? null,
    boot_id: identity?.bootId ?? null,
    started_at: ctx.now,
  })
  ctx.afterCommit(() =>
    ctx.events.publish({ companyId: run.company_id, type: 'run.running', data: { runId, agentId: run.agent_id } }),
  )
}

function notStarted(ctx: Context, run: RunRow, error: unknown): Ending {
  if (error instanceof NotStartable) {
    return { reason: 'not_started', exitCode: null, signal: null, error: { code: error.code, message: error.message } }
  }
  ctx.log.error('A run could not be prepared.', { runId: run.id, error: String((error as Error)?.stack ?? error) })
  return {
    reason: 'not_started',
    exitCode: null,
    signal: null,
    error: { code: 'internal', message: 'Internal error.' },
  }
}
