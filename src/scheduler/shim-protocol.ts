import type { SessionState } from '../adapter/adapter.ts'

/**
 * What the server tells a run's shim, once, on its standard input: so that no
 * secret is in an argument, in a file, or in the shim's own environment.
 */
export interface RunSpec {
  runId: string
  command: string
  args: string[]
  /** The whole environment of the agent's program. */
  env: Record<string, string>
  cwd: string
  stdin: string
  /** Values that must not be written anywhere. */
  redact: string[]
  /** Seconds. */
  timeoutSec: number
  /** Seconds without any output; 0 is no limit. */
  silenceSec: number
  /** Seconds between SIGTERM and SIGKILL. */
  graceSec: number
  /** How many bytes of output are kept. */
  logLimit: number
  adapterType: string
  adapterConfig: { model?: string | undefined }
  session: SessionState | null
  newSessionId: string
}

/** The environment variable that every process of a run carries. */
export const MARKER = 'SERVICE_RUN_ID'

/** The last thing that a shim writes: how its run ended. */
export interface ExitRecord {
  reason: 'exited' | 'timed_out' | 'silent' | 'stopped' | 'spawn_failed'
  exitCode: number | null
  signal: string | null
  error: { code: string; message: string } | null
  startedAt: string
  finishedAt: string
  /** How many bytes the program wrote, kept or not. */
  outputBytes: number
  /** How many processes it left behind that had to be ended. */
  strays: number
}

/** The files of a run's folder. */
export const FACTS_FILE = 'facts.json'
export const EXIT_FILE = 'exit.json'
export const SHIM_ERROR_FILE = 'shim.err'
