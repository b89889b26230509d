import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { SessionState } from '../../adapter/adapter.ts'
import type { Config } from '../../platform/config.ts'

/** Everything that a shim is told. It goes through the shim's standard input and never to a disk: it holds secrets. */
export interface RunSpec {
  runId: string
  command: string
  args: string[]
  /** The program that isolates the command, with its arguments; the command follows them. Empty for none. */
  wrapper: string[]
  /** The whole environment of the command; the run's marker is added. */
  env: Record<string, string>
  cwd: string
  /** For the command's standard input, which is then closed. */
  stdin: string
  reader: {
    type: string
    config: { model?: string | undefined }
    session: SessionState | null
    newSessionId: string
    /** The environment by which the reader finds the program's files, if it is not the command's. */
    env?: Record<string, string>
  }
  /** The values that no log and no fact may show. */
  redact: string[]
  /** How long the run may last; null for no limit. */
  timeoutSec: number | null
  /** What the run may cost by its own account, in micro-dollars; it is stopped when that is reached. Null for no limit. */
  budgetMicros: number | null
  /** How long the command may print nothing; null for no limit. */
  silenceSec: number | null
  /** Between SIGTERM and SIGKILL. */
  graceSec: number
  /** The size of the log on disk, in bytes, at most. */
  logCap: number
}

/** How a run's command ended, as its shim found it, or as the server found it when the shim is gone. */
export interface ExitRecord {
  exitCode: number | null
  signal: string | null
  /**
   * The first cause. `lost`: the shim died, so nobody knows how the command
   * ended. `after_result`: it was ended since it had said its last word and did not exit. `never_started`: it died, or never was, before there was a command.
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
  /** Why the command could not be started: the system's code (`ENOENT`) and a sentence. */
  error?: { code: string; message: string }
  /** The last line of its standard error. */
  lastError?: string | null
  /** Null when the command never started, or nobody knows. */
  startedAt: string | null
  finishedAt: string
  /** What the command printed, before anything was left out. */
  bytes: { stdout: number; stderr: number }
  /** How many processes besides the command had to be ended. */
  strays: number
  /** How many processes could not be ended: stuck in the kernel, or not ours to signal. */
  left: number
}

/** What a stop asks for, so that the shim can tell it from a signal to the whole group (`kill 0`). */
export interface StopRequest {
  graceSec: number
}

/** The folder of a run: its log, its facts and its exit record. */
export const runFolder = (config: Pick<Config, 'dataDir'>, runId: string) => path.join(config.dataDir, 'runs', runId)

export const factsFile = (runDir: string) => path.join(runDir, 'facts.jsonl')
export const exitFile = (runDir: string) => path.join(runDir, 'exit.json')
export const shimErrorFile = (runDir: string) => path.join(runDir, 'shim.err')
/** A folder of its own: who watches the run's folder for facts is not woken by output. */
export const logFolder = (runDir: string) => path.join(runDir, 'log')
const stopFile = (runDir: string) => path.join(runDir, 'stop.json')

/** How the run ended, or undefined while it has not, or when nobody could write it down. */
export const readExit = (runDir: string): ExitRecord | undefined => readJson<ExitRecord>(exitFile(runDir))

export const readStop = (runDir: string): StopRequest | undefined => readJson<StopRequest>(stopFile(runDir))

export const writeStop = (runDir: string, stop: StopRequest): void => writeJson(stopFile(runDir), stop)

/** What the run may cost since its budget was changed; it replaces what the spec says. */
export interface BudgetNote {
  budgetMicros: number | null
}

const budgetFile = (runDir: string) => path.join(runDir, 'budget.json')

export const readBudget = (runDir: string): BudgetNote | undefined => readJson<BudgetNote>(budgetFile(runDir))

export const writeBudget = (runDir: string, note: BudgetNote): void => writeJson(budgetFile(runDir), note)

function writeJson(file: string, value: unknown): void {
  const temporary = `${file}.tmp`
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 })
  renameSync(temporary, file)
}

/**
 * Takes the room for the exit record on the disk at once, so that a disk that
 * is full at the end of the run cannot lose its outcome.
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

/** Whether the shim came so far that there may have been a command. */
export const hasBegun = (runDir: string): boolean =>
  existsSync(`${exitFile(runDir)}.tmp`) || existsSync(exitFile(runDir))

/** Writes the end of a run whose shim could not. */
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
