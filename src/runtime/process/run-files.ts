import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { SessionState } from '../../adapter/adapter.ts'
import type { Config } from '../../platform/config.ts'
import type { CheckedPath } from './checked-path.ts'

/** The input of a shim. It contains secrets, so it goes through the shim's standard input and is never written to disk. */
export interface RunSpec {
  runId: string
  command: string
  args: string[]
  /** The program and arguments that isolate the command, which follows them. Empty for none. */
  wrapper: string[]
  /** The complete environment of the command. The shim adds the run's marker. */
  env: Record<string, string>
  cwd: string
  /** The real path that `cwd` must still have when the command starts. Null for any. */
  realCwd: string | null
  /** The files and folders that the wrapper receives as open file descriptors: 3, 4 and so on. */
  opens: CheckedPath[]
  /** The content of the command's standard input, which is closed after it. */
  stdin: string
  reader: {
    type: string
    config: { model?: string | undefined }
    session: SessionState | null
    newSessionId: string
    /** The environment in which the reader finds the program's files, if it differs from the command's. */
    env?: Record<string, string>
  }
  /** The secret values to remove from the log and the facts. */
  redact: string[]
  /** The longest duration of the run, in seconds. Null for no limit. */
  timeoutSec: number | null
  /** The cost at which the shim stops the run, in micro-dollars, as the program reports it. Null for no limit. */
  budgetMicros: number | null
  /** The longest time without output, in seconds. Null for no limit. */
  silenceSec: number | null
  /** The time between SIGTERM and SIGKILL, in seconds. */
  graceSec: number
  /** The size limit of the log on disk, in bytes. */
  logCap: number
}

/** How a run's command ended. The shim writes it; the server writes it if the shim died. */
export interface ExitRecord {
  exitCode: number | null
  signal: string | null
  /**
   * The first cause. `after_result`: the shim ended a command that had reported
   * its result and did not exit. `lost`: the shim died, so the outcome of the
   * command is unknown. `never_started`: there was no shim, or it died before it
   * started the command.
   */
  reason:
    | 'exited'
    | 'after_result'
    | 'timed_out'
    | 'silent'
    | 'over_budget'
    | 'stopped'
    | 'spawn_failed'
    | 'never_started'
    | 'lost'
  /** The reason why the command could not be started: the system's code (`ENOENT`) and a sentence. */
  error?: { code: string; message: string }
  /** The last line of its standard error. */
  lastError?: string | null
  /** Null if the command never started, or if that is unknown. */
  startedAt: string | null
  finishedAt: string
  /** The bytes that the command printed, before redaction and truncation. */
  bytes: { stdout: number; stderr: number }
  /** The number of processes besides the command that had to be ended. */
  strays: number
  /** The number of processes that could not be ended: stuck in the kernel, or owned by another user. */
  left: number
}

/** The request to stop a run, as a file. It distinguishes a stop by the server from a signal to the whole group (`kill 0`). */
export interface StopRequest {
  graceSec: number
}

/** The folder of a run: its log, its facts and its exit record. */
export const runFolder = (config: Pick<Config, 'dataDir'>, runId: string) => path.join(config.dataDir, 'runs', runId)

export const factsFile = (runDir: string) => path.join(runDir, 'facts.jsonl')
export const exitFile = (runDir: string) => path.join(runDir, 'exit.json')
export const shimErrorFile = (runDir: string) => path.join(runDir, 'shim.err')
/** The log has its own folder, so that output causes no events in the watched folder of the run. */
export const logFolder = (runDir: string) => path.join(runDir, 'log')
const stopFile = (runDir: string) => path.join(runDir, 'stop.json')

/** Reads the exit record of a run, or undefined if there is none yet. */
export const readExit = (runDir: string): ExitRecord | undefined => readJson<ExitRecord>(exitFile(runDir))

export const readStop = (runDir: string): StopRequest | undefined => readJson<StopRequest>(stopFile(runDir))

export const writeStop = (runDir: string, stop: StopRequest): void => writeJson(stopFile(runDir), stop)

/** The budget of a live run after a change. It replaces the budget in the `RunSpec`. */
export interface BudgetUpdate {
  budgetMicros: number | null
}

const budgetFile = (runDir: string) => path.join(runDir, 'budget.json')

export const readBudget = (runDir: string): BudgetUpdate | undefined => readJson<BudgetUpdate>(budgetFile(runDir))

export const writeBudget = (runDir: string, update: BudgetUpdate): void => writeJson(budgetFile(runDir), update)

function writeJson(file: string, value: unknown): void {
  const temporary = `${file}.tmp`
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 })
  renameSync(temporary, file)
}

/**
 * Reserves the disk space of the exit record at the start of the run. A disk
 * that is full at the end therefore cannot lose the outcome.
 *
 * @returns a function that writes the record
 */
export function reserveExit(runDir: string): (record: ExitRecord) => void {
  const temporary = `${exitFile(runDir)}.tmp`
  const file = openSync(temporary, 'w', 0o600)
  writeSync(file, ' '.repeat(EXIT_SIZE), 0)
  return (record) => {
    writeSync(file, JSON.stringify(record).padEnd(EXIT_SIZE), 0)
    closeSync(file)
    renameSync(temporary, exitFile(runDir))
  }
}

const EXIT_SIZE = 2048

/** Whether the shim got far enough to have started the command. */
export const hasBegun = (runDir: string): boolean =>
  existsSync(`${exitFile(runDir)}.tmp`) || existsSync(exitFile(runDir))

/** Writes the exit record of a run whose shim died. */
export function writeExit(runDir: string, record: ExitRecord): void {
  reserveExit(runDir)(record)
}

function readJson<Value>(file: string): Value | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
