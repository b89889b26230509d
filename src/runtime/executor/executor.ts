import { setTimeout as delay } from 'node:timers/promises'
import type { Fact } from '../../adapter/adapter.ts'
import { leftToSpend } from '../../organization/budget/enforce.ts'
import { costsOfRuns, countLiveRuns, findRun, listLiveRuns, updateRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import { requestStops } from '../../organization/run/stop.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { followRun, type RunProcess } from '../process/follow.ts'
import { spawnRun } from '../process/process.ts'
import type { ProcessIdentity } from '../process/process-table.ts'
import { runFolder, writeBudget } from '../process/run-files.ts'
import { stopRun } from '../process/stop.ts'
import type { Ending } from './ending.ts'
import { addFacts, bookFacts, type FactSummary, NO_FACTS } from './facts.ts'
import { finishRun } from './finish.ts'
import { NotStartable } from './not-startable.ts'
import { type PreparedRun, prepareRun, type RuntimeDependencies } from './prepare.ts'
import type { RunTokens } from './token.ts'

export interface Executor {
  /** Carries out a claimed run, start to end. */
  execute(run: RunRow): void
  /** Takes over a run that another server started, by what is known of its shim. */
  adopt(run: RunRow, identity: ProcessIdentity | null): void
  /** Resolves when no run is under way. */
  idle(): Promise<void>
  /**
   * Stops every run for the server's own stop, and waits until they are gone.
   *
   * @param onLeft told how many are left, at the beginning and with each that has ended
   */
  stopAll(onLeft?: (runs: number) => void): Promise<void>
  /** Waits until every run under way can be let go of: its process is recorded, so that the next server finds it. */
  launched(): Promise<void>
  /** Lets go of the runs: they go on by themselves, for the next server to adopt. */
  close(): void
}

/** How long after a failed write the next try comes, in milliseconds. */
const DISK_FULL_WAIT_MS = 1_000

/** Carries runs out: claim -> token -> workspace -> spawn -> wait or stop -> settle -> record -> announce. */
export function createExecutor(
  ctx: Context,
  around: RuntimeDependencies & { shim: readonly [string, ...string[]]; tokens: RunTokens },
): Executor {
  const underWay = new Map<string, Promise<void>>()
  const launching = new Set<Promise<void>>()
  const processes = new Map<string, RunProcess>()
  let isClosed = false

  const unsubscribe = ctx.events.subscribe(({ type, companyId, data }) => {
    if (type === 'run.stopping') stopProcess((data as { runId: string }).runId)
    if (type === 'agent.budget_changed' || type === 'company.budget_changed') noteBudgets(companyId)
  })

  function track(run: RunRow, work: Promise<void>) {
    const done = work
      .catch((error) => ctx.log.error('A run was not settled.', { runId: run.id, error: stackOf(error) }))
      .finally(() => underWay.delete(run.id))
    underWay.set(run.id, done)
  }

  /**
   * Writes what happened to a run. A full disk is waited out: the run goes on
   * whether it can be written down or not, and must not be forgotten for it.
   */
  async function persist(change: () => void): Promise<void> {
    for (;;) {
      try {
        return await ctx.write(change)
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'disk_full') || isClosed) throw error
        ctx.log.warn('A run cannot be written down: the disk is full.')
        await delay(DISK_FULL_WAIT_MS, undefined, { ref: false })
      }
    }
  }

  async function carryOut(run: RunRow): Promise<void> {
    const launch = Promise.withResolvers<void>()
    launching.add(launch.promise)
    const launched = () => {
      launch.resolve()
      launching.delete(launch.promise)
    }
    try {
      await start(run, launched)
    } finally {
      launched()
    }
  }

  async function start(run: RunRow, launched: () => void): Promise<void> {
    const token = await around.tokens.sign({ id: run.id, agentId: run.agent_id, companyId: run.company_id })
    let prepared: PreparedRun
    try {
      prepared = await prepareRun(ctx, run, token, around)
      await ctx.write(() => noteIntent(ctx, run.id, prepared))
    } catch (error) {
      return settle(run.id, notStarted(ctx, run, error), NO_FACTS)
    }
    // Looked at again just before the spawn: a stop that came meanwhile found no process to stop.
    if (findRun(ctx.db, { id: run.id })?.stop_reason) return settle(run.id, STOPPED_IN_TIME, NO_FACTS)
    const facts = createFactBook(run.id)
    const process = await spawnRun(prepared.spec, {
      shim: around.shim,
      runDir: runFolder(ctx.config, run.id),
      onFacts: facts.add,
    })
    processes.set(run.id, process)
    await persist(() => noteRunning(ctx, run.id, process.identity))
    launched()
    // A shim of ours that dies before its command has failed; only a killed server's may be begun again for nothing.
    await untilSettled(run.id, process, facts, { never_started: 'lost' })
  }

  async function carryOn(run: RunRow, identity: ProcessIdentity | null): Promise<void> {
    const facts = createFactBook(run.id)
    const ref = { runId: run.id, runDir: runFolder(ctx.config, run.id), identity }
    const process = followRun(ref, { onFacts: facts.add })
    processes.set(run.id, process)
    if (identity && run.status === 'starting') await persist(() => noteRunning(ctx, run.id, identity))
    await untilSettled(run.id, process, facts)
  }

  async function untilSettled(
    runId: string,
    process: RunProcess,
    facts: FactBook,
    instead: Partial<Record<Ending['reason'], Ending['reason']>> = {},
  ): Promise<void> {
    try {
      // A stop that was asked for before this process was known here.
      if (findRun(ctx.db, { id: runId })?.stop_reason) stopProcess(runId)
      const { reason, exitCode, signal, error, finishedAt } = await process.ended
      const ending = { reason: instead[reason] ?? reason, exitCode, signal, error: error ?? null, at: finishedAt }
      await settle(runId, ending, facts.summary())
    } finally {
      processes.delete(runId)
      process.close()
    }
  }

  /** Keeps what a run tells: on the books at once, and its last words for the end. */
  function createFactBook(runId: string) {
    let summary = NO_FACTS
    return {
      async add(facts: Fact[]) {
        summary = addFacts(summary, facts)
        await persist(() => bookFacts(ctx, runId, facts))
      },
      summary: () => summary,
    }
  }

  const settle = (runId: string, ending: Ending, facts: FactSummary) =>
    persist(() => finishRun(ctx, runId, ending, facts))

  function stopProcess(runId: string) {
    const process = processes.get(runId)
    if (!process) return
    const graceSec = findRun(ctx.db, { id: runId })?.grace_sec ?? 0
    stopRun(process, graceSec).catch((error) =>
      ctx.log.error('A run was not stopped.', { runId, error: stackOf(error) }),
    )
  }

  /** Tells the shims of a company's runs what these may cost since a budget was changed. */
  function noteBudgets(companyId: string) {
    for (const run of listLiveRuns(ctx.db, { companyId })) {
      const process = processes.get(run.id)
      if (!process) continue
      const left = leftToSpend(ctx, { companyId, agentId: run.agent_id })
      const spent = costsOfRuns(ctx.db, [run.id]).get(run.id)?.cost_micros ?? 0
      writeBudget(process.runDir, { budgetMicros: left === null ? null : left + spent })
    }
  }

  const idle = async () => {
    while (underWay.size > 0) await Promise.all(underWay.values())
  }

  return {
    execute: (run) => track(run, carryOut(run)),
    adopt: (run, identity) => track(run, carryOn(run, identity)),
    idle,
    async stopAll(onLeft) {
      await ctx.write(() => requestStops(ctx, {}, 'shutdown'))
      const unsubscribe = ctx.events.subscribe(({ type }) => {
        if (type === 'run.finished') onLeft?.(countLiveRuns(ctx.db))
      })
      if (underWay.size > 0) onLeft?.(underWay.size)
      await idle()
      unsubscribe()
    },
    launched: async () => {
      await Promise.all(launching)
    },
    close() {
      isClosed = true
      unsubscribe()
      for (const process of processes.values()) process.close()
    },
  }
}

interface FactBook {
  add(facts: Fact[]): Promise<void>
  summary(): FactSummary
}

const stackOf = (error: unknown) => String((error as Error)?.stack ?? error)

const STOPPED_IN_TIME: Ending = { reason: 'stopped', exitCode: null, signal: null, error: null, at: null }

/** What the run is about to be, kept before there is a process: a server after a crash knows what to look for. */
const noteIntent = (ctx: Context, runId: string, { spec, instructionsHash }: PreparedRun) =>
  updateRun(ctx.db, runId, {
    cwd: spec.cwd,
    instructions_hash: instructionsHash,
    grace_sec: spec.graceSec,
    session_id_before: spec.reader.session?.id ?? null,
  })

function noteRunning(ctx: Context, runId: string, identity: ProcessIdentity | null): void {
  const run = updateRun(ctx.db, runId, {
    status: 'running',
    pid: identity?.pid ?? null,
    pid_started: identity?.startTime ?? null,
    boot_id: identity?.bootId ?? null,
    started_at: ctx.now,
  })
  const data = { runId, agentId: run.agent_id }
  ctx.afterCommit(() => ctx.events.publish({ companyId: run.company_id, type: 'run.running', data }))
}

function notStarted(ctx: Context, run: RunRow, error: unknown): Ending {
  const isExpected = error instanceof NotStartable
  if (!isExpected) ctx.log.error('A run could not be prepared.', { runId: run.id, error: stackOf(error) })
  const { code, message } = isExpected ? error : { code: 'internal', message: 'Internal error.' }
  return { reason: 'not_started', exitCode: null, signal: null, error: { code, message }, at: null }
}
