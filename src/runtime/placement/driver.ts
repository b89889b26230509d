import type { RemoteJob } from '../remote/wire.ts'

/** The folder for runs and clones, below the home directory. */
export const DEFAULT_WORKDIR = '.service-runs'

/** What an engine is asked to execute. */
export interface Job extends RemoteJob {
  /** The time limit of the run, in seconds, or null. */
  timeoutSec: number | null
}

/** A job that was submitted. */
export interface JobRef {
  runId: string
  /** The id that the engine gave it. */
  jobId: string
}

export type JobStatus =
  | { state: 'queued'; because: string | null }
  | { state: 'running'; node: string | null }
  /** It is not there any more. The run's own exit record decides how it ended; the cause explains its absence. */
  | { state: 'ended'; cause: string | null }

/** One thing that `service placement test` checked. */
export interface Check {
  name: string
  ok: boolean
  message: string
}

/** Executes runs with an engine. Every method may throw a `PlacementFault`. */
export interface Driver {
  /** How often the status of the jobs is read, in milliseconds. */
  readonly pollMs: number
  /** The URL of the API for a new run, as its machine reaches it. */
  apiUrl(): Promise<string>
  /** Hands a run to the engine. @returns the id of the job */
  submit(job: Job): Promise<string>
  /** Finds the job of a run after a crash of the server. */
  find(runId: string): Promise<string | undefined>
  /** Reads the status of jobs, by run id, with one request to the engine. */
  status(jobs: readonly JobRef[]): Promise<Map<string, JobStatus>>
  /** Ends a job: a queued one at once, a running one within the grace. */
  stop(job: JobRef, graceSec: number): Promise<void>
  /** Removes what a job may have left. */
  cleanUp(job: JobRef): Promise<void>
  /** Tries everything that a run needs, and says what is missing. */
  test(): Promise<Check[]>
  /** Makes ready for jobs that another server submitted. */
  resume?(): Promise<void>
  close(): Promise<void>
}

/** Why an engine did not do what it was asked. The message is for the run. */
export class PlacementFault extends Error {
  /** Whether the engine could not be reached, so that nothing is known of its jobs. */
  readonly isUnreachable: boolean
  constructor(message: string, isUnreachable = false) {
    super(message)
    this.isUnreachable = isUnreachable
  }
}

/** Explains the exit code of a job whose shim started nothing. */
export function explainExit(code: number): string | null {
  switch (code) {
    case 69:
      return 'the API could not be reached from its machine. Check publicUrl, the firewall and the TLS certificate: `service placement test`.'
    case 73:
      return 'its folder could not be written there: no permission, or the disk is full or over its quota (workdir).'
    case 78:
      return 'the Node program there is older than version 22. Set node to a newer one.'
    case 126:
    case 127:
      return 'the Node program was not found there. Install Node 22 or newer, or set node to its path.'
    default:
      return null
  }
}
