import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { findProgram } from './capabilities.ts'
import { openCappedLog } from './capped-log.ts'
import { SHORT_GRACE_MS, type TreeEnd } from './end-tree.ts'
import { openFactLog } from './fact-log.ts'
import { createLastWord, createLimits } from './limits.ts'
import type { ProcessEntry } from './process-entry.ts'
import { MARKER } from './process-table.ts'
import { createPump } from './pump.ts'
import { type ExitRecord, factsFile, logFolder, type RunSpec, readBudget, type StopRequest } from './run-files.ts'
import { createSpendLimit } from './spend-limit.ts'

export interface Supervision {
  runDir: string
  stopAsked: Promise<StopRequest>
  /** @param waiter the process that only waits for the command, if there is one */
  endTree(graceMs: number, hurry: readonly Promise<number>[], waiter?: number): Promise<TreeEnd>
}

/** What the command's pipes may take to run dry when everything that could write to them is gone, in milliseconds. */
const DRAIN_MS = 1_000

/**
 * Runs the command to its end: no process of it is left, its log and facts
 * are written. The first cause of the end is the reason.
 */
export async function supervise(spec: RunSpec, by: Supervision): Promise<ExitRecord> {
  const log = openCappedLog(logFolder(by.runDir), spec.logCap)
  const facts = openFactLog(factsFile(by.runDir))
  const limits = createLimits(spec)
  const spend = createSpendLimit(spec.budgetMicros, () => (readBudget(by.runDir) ?? spec).budgetMicros)
  const lastWord = createLastWord()
  const pump = createPump(spec, {
    log,
    facts,
    onOutput() {
      limits.heard()
      lastWord.heard()
    },
    onFacts(found) {
      spend.note(found)
      lastWord.note(found)
    },
  })
  const startedAt = new Date().toISOString()

  const finish = (
    end: Pick<ExitRecord, 'exitCode' | 'signal' | 'reason' | 'error' | 'strays' | 'left'>,
  ): ExitRecord => {
    limits.close()
    pump.close()
    lastWord.close()
    facts.close()
    log.close()
    return { ...end, startedAt, finishedAt: new Date().toISOString(), bytes: pump.bytes, lastError: pump.lastError() }
  }

  const command = findFault(spec) ?? startCommand(spec)
  if ('error' in command) {
    const record = finish({
      exitCode: null,
      signal: null,
      reason: 'spawn_failed',
      error: command.error,
      strays: 0,
      left: 0,
    })
    return { ...record, startedAt: null }
  }
  const { child } = command
  const closed = Promise.all([pump.read('stdout', child.stdout), pump.read('stderr', child.stderr)])
  const exited = new Promise<{ exitCode: number | null; signal: string | null } | SpawnError>((resolve) => {
    child.once('error', (error) => resolve({ error: spawnError(spec, error) }))
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  child.stdin.on('error', () => {}) // a command that does not read its prompt is no error
  child.stdin.end(spec.stdin)

  const stop = by.stopAsked.then((request) => ({ reason: 'stopped' as const, graceSec: request.graceSec }))
  const limit = limits.reached.then((reason) => ({ reason, graceSec: spec.graceSec }))
  const spent = spend.reached.then(() => ({ reason: 'over_budget' as const, graceSec: spec.graceSec }))
  const over = lastWord.over.then(() => ({ reason: 'after_result' as const, graceSec: spec.graceSec }))
  const waiter = spec.wrapper.length > 0 ? child.pid : undefined
  if (!waiter) {
    // At once, before the machine is looked through for the rest: what it streams meanwhile is spent.
    spend.reached.then(() => child.kill('SIGTERM'))
    spend.exceeded.then(() => child.kill('SIGKILL'))
  }
  const cause = await Promise.race([
    exited.then(() => ({ reason: 'exited' as const, graceSec: 0 })),
    stop,
    limit,
    spent,
    over,
  ])
  const hurry = by.stopAsked.then((request) => request.graceSec * 1_000)
  const tree =
    cause.reason === 'exited'
      ? await by.endTree(SHORT_GRACE_MS, [hurry], waiter)
      : await by.endTree(
          cause.graceSec * 1_000,
          [hurry, exited.then(() => SHORT_GRACE_MS), spend.exceeded.then(() => 0)],
          waiter,
        )

  const end = await within(DRAIN_MS, exited, { exitCode: null, signal: null })
  await within(DRAIN_MS, closed, undefined)
  const isCommand = (entry: ProcessEntry) => waiter !== undefined && entry.namespacePid === COMMAND_PID
  const strays = tree.found.filter((entry) => entry.pid !== child.pid && !isCommand(entry)).length
  const left = tree.left.length
  if ('error' in end) {
    const record = finish({ exitCode: null, signal: null, reason: 'spawn_failed', error: end.error, strays, left })
    return { ...record, startedAt: null }
  }
  return finish({ ...end, reason: cause.reason, strays, left })
}

/** The command's number in its PID namespace: every wrapper starts it as the second process. */
const COMMAND_PID = 2

interface SpawnError {
  error: { code: string; message: string }
}

/** Finds out why a command that a wrapper would start cannot be: the wrapper's own failure would look like the command's. */
function findFault(spec: RunSpec): SpawnError | undefined {
  if (spec.wrapper.length === 0 || findProgram(spec.command, spec.env.PATH)) return undefined
  const code = existsSync(spec.command) ? 'EACCES' : 'ENOENT'
  return { error: spawnError(spec, Object.assign(new Error(code), { code })) }
}

/** Starts the command in the shim's own group, with an ordinary umask. */
function startCommand(spec: RunSpec): { child: ChildProcessByStdio<Writable, Readable, Readable> } | SpawnError {
  const umask = process.umask(0o022)
  try {
    const [program, ...args] = [...spec.wrapper, spec.command, ...spec.args]
    const child = spawn(program!, args, {
      cwd: spec.cwd,
      env: { ...spec.env, [MARKER]: spec.runId },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    return { child }
  } catch (error) {
    return { error: spawnError(spec, error) }
  } finally {
    process.umask(umask)
  }
}

/** The system answers ENOENT for the program and for the folder alike; the sentence says which it is. */
function spawnError(spec: RunSpec, error: unknown): SpawnError['error'] {
  const code = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
  if (!statSync(spec.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return { code, message: `The working directory ${spec.cwd} does not exist.` }
  }
  if (code === 'ENOENT') return { code, message: `The program ${spec.command} was not found.` }
  if (code === 'EACCES') return { code, message: `The program ${spec.command} may not be run.` }
  return { code, message: error instanceof Error ? error.message : String(error) }
}

/** The value of a promise, or another one when it takes longer. */
const within = <Value, Other>(ms: number, promise: Promise<Value>, other: Other): Promise<Value | Other> =>
  Promise.race([promise, delay(ms, other)])
