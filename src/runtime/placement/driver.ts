import type { RemoteJob } from '../remote/wire.ts'

/** The default folder for runs and clones, relative to the home directory. */
export const DEFAULT_WORKDIR = '.service-runs'

/** A run that is submitted to an engine. */
export interface Job extends RemoteJob {
  /** The time limit of the run, in seconds, or null. */
  timeoutSec: number | null
}

/** A job that was submitted. */
export interface JobRef {
  runId: string
  /** The id of the job in the engine. */
  jobId: string
}

export type JobStatus =
  | { state: 'queued'; because: string | null }
  | { state: 'running'; node: string | null }
  /** The engine has no such job any more. The exit record of the run has the outcome; `cause` is the engine's reason. */
  | { state: 'ended'; cause: string | null }

/** One check of `service placement test`. */
export interface Check {
  name: string
  ok: boolean
  message: string
}

/** Connects the server to an engine that executes runs. Every method may throw a `PlacementFault`. */
export interface Driver {
  /** The interval at which the status of the jobs is read, in milliseconds. */
  readonly pollMs: number
  /** Returns the URL at which the machine of a new run reaches the API. */
  apiUrl(): Promise<string>
  /** Submits a run to the engine. @returns the id of the job */
  submit(job: Job): Promise<string>
  /** Finds the job of a run after the server crashed. */
  find(runId: string): Promise<string | undefined>
  /** Returns the status of jobs by run id, with one request to the engine. */
  status(jobs: readonly JobRef[]): Promise<Map<string, JobStatus>>
  /** Ends a job. A queued job ends immediately, a running one within the grace period. */
  stop(job: JobRef, graceSec: number): Promise<void>
  /** Removes the remaining processes and files of a job. */
  cleanUp(job: JobRef): Promise<void>
  /** Checks all requirements of a run. */
  test(): Promise<Check[]>
  /** Restores the connections that jobs of a previous server need. */
  resume?(): Promise<void>
  close(): Promise<void>
}

/** A failed operation of an engine. The message becomes the error of the run. */
export class PlacementFault extends Error {
  /** Whether the engine could not be reached. The status of its jobs is then unknown. */
  readonly isUnreachable: boolean
  constructor(message: string, isUnreachable = false) {
    super(message)
    this.isUnreachable = isUnreachable
  }
}

/** Returns the meaning of the exit code of a shim that did not start the run. */
export function explainExit(code: number): string | null {
  switch (code) {
    case 69:
      return 'the API could not be reached from its machine. Check publicUrl, the firewall and the TLS certificate: `service placement test`.'
    case 73:
      return 'the machine could not write to its folder (workdir): no permission, or the disk is full or over its quota.'
    case 78:
      return 'Node on the machine is older than version 22. Set node to a newer one.'
    case 126:
    case 127:
      return 'the Node program was not found there. Install Node 22 or newer, or set node to its path.'
    default:
      return null
  }
}
