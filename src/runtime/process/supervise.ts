import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { closeSync, existsSync, statSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { findProgram } from './capabilities.ts'
import { openCappedLog } from './capped-log.ts'
import { type CheckedPath, entryOf, openChecked } from './checked-path.ts'
import { SHORT_GRACE_MS, type TreeEnd } from './end-tree.ts'
import { openFactLog } from './fact-log.ts'
import { createLimits, createResultWatch } from './limits.ts'
import type { ProcessEntry } from './process-entry.ts'
import { MARKER } from './process-table.ts'
import { createPump } from './pump.ts'
import { type ExitRecord, factsFile, logFolder, type RunSpec, readBudget, type StopRequest } from './run-files.ts'
import { createSpendLimit } from './spend-limit.ts'

export interface Supervision {
  runDir: string
  /** Resolves when the server requests a stop. */
  stopRequested: Promise<StopRequest>
  /** Ends the processes of the run, see `endTree`. */
  endTree(graceMs: number, shorten: readonly Promise<number>[], waiter?: number): Promise<TreeEnd>
}

/** The time limit for reading the rest of the command's pipes after all its processes have ended, in milliseconds. */
const DRAIN_MS = 1_000

/**
 * Runs the command until all its processes have ended and its log and facts are
 * written. The first cause of the end becomes the reason of the record.
 */
export async function supervise(spec: RunSpec, by: Supervision): Promise<ExitRecord> {
  const log = openCappedLog(logFolder(by.runDir), spec.logCap)
  const facts = openFactLog(factsFile(by.runDir))
  const limits = createLimits(spec)
  const spend = createSpendLimit(spec.budgetMicros, () => (readBudget(by.runDir) ?? spec).budgetMicros)
  const result = createResultWatch()
  const pump = createPump(spec, {
    log,
    facts,
    onOutput() {
      limits.noteOutput()
      result.noteOutput()
    },
    onFacts(found) {
      spend.noteFacts(found)
      result.noteFacts(found)
    },
  })
  const startedAt = new Date().toISOString()

  const finish = (
    end: Pick<ExitRecord, 'exitCode' | 'signal' | 'reason' | 'error' | 'strays' | 'left'>,
  ): ExitRecord => {
    limits.close()
    pump.close()
    result.close()
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
  child.stdin.on('error', () => {}) // a command may exit without reading its prompt
  child.stdin.end(spec.stdin)

  const stop = by.stopRequested.then((request) => ({ reason: 'stopped' as const, graceSec: request.graceSec }))
  const limit = limits.reached.then((reason) => ({ reason, graceSec: spec.graceSec }))
  const spent = spend.reached.then(() => ({ reason: 'over_budget' as const, graceSec: spec.graceSec }))
  const overdue = result.overdue.then(() => ({ reason: 'after_result' as const, graceSec: spec.graceSec }))
  const waiter = spec.wrapper.length > 0 ? child.pid : undefined
  if (!waiter) {
    // Immediately, before the scan of the machine: the command would spend more during the scan.
    spend.reached.then(() => child.kill('SIGTERM'))
    spend.exceeded.then(() => child.kill('SIGKILL'))
  }
  const cause = await Promise.race([
    exited.then(() => ({ reason: 'exited' as const, graceSec: 0 })),
    stop,
    limit,
    spent,
    overdue,
  ])
  const stopDeadline = by.stopRequested.then((request) => request.graceSec * 1_000)
  const tree =
    cause.reason === 'exited'
      ? await by.endTree(SHORT_GRACE_MS, [stopDeadline], waiter)
      : await by.endTree(
          cause.graceSec * 1_000,
          [stopDeadline, exited.then(() => SHORT_GRACE_MS), spend.exceeded.then(() => 0)],
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

/** The command's pid in its PID namespace. Every wrapper starts it as the second process. */
const COMMAND_PID = 2

interface SpawnError {
  error: { code: string; message: string }
}

/** Finds the reason why a wrapped command cannot be started. Otherwise the wrapper's failure would look like the command's. */
function findFault(spec: RunSpec): SpawnError | undefined {
  if (spec.wrapper.length === 0 || findProgram(spec.command, spec.env.PATH)) return undefined
  const code = existsSync(spec.command) ? 'EACCES' : 'ENOENT'
  return { error: spawnError(spec, Object.assign(new Error(code), { code })) }
}

type Command = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * Starts the command in the shim's process group, with an ordinary umask. It
 * opens the paths that the server checked, and passes on what it opened: a path
 * could change once more.
 */
function startCommand(spec: RunSpec): { child: Command } | SpawnError {
  const umask = process.umask(0o022)
  const opened: number[] = []
  const open = (checked: CheckedPath) => {
    const fd = openChecked(checked)
    opened.push(fd)
    return fd
  }
  try {
    const [program, ...args] = [...spec.wrapper, spec.command, ...spec.args]
    const passed = spec.opens.map(open)
    const cwd = spec.realCwd === null ? spec.cwd : entryOf(open({ path: spec.cwd, real: spec.realCwd }), spec.cwd)
    const env = { ...spec.env, [MARKER]: spec.runId }
    return { child: spawn(program!, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe', ...passed] }) as Command }
  } catch (error) {
    return { error: spawnError(spec, error) }
  } finally {
    process.umask(umask)
    for (const fd of opened) closeSync(fd)
  }
}

/** Describes a failed spawn. The system returns ENOENT for a missing program and a missing folder alike; the message names which. */
function spawnError(spec: RunSpec, error: unknown): SpawnError['error'] {
  const code = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
  if (!statSync(spec.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return { code, message: `The working directory ${spec.cwd} does not exist.` }
  }
  if (code === 'ENOENT') return { code, message: `The program ${spec.command} was not found.` }
  if (code === 'EACCES')
    return {
      code,
      message: `The program ${spec.command} is not executable, or a folder on its path is not accessible.`,
    }
  return { code, message: error instanceof Error ? error.message : String(error) }
}

/** Resolves with the value of a promise, or with another value after a timeout in milliseconds. */
const within = <Value, Other>(ms: number, promise: Promise<Value>, other: Other): Promise<Value | Other> =>
  Promise.race([promise, delay(ms, other)])
