import type { ExitRecord, RunSpec } from '../process/run-files.ts'

/** The data that the engine passes to the shim of a run. With it, the shim requests the bundle from the server. */
export interface RemoteJob {
  runId: string
  /** The URL at which this machine reaches the API. */
  url: string
  /** The token of the run. */
  token: string
  /** The folder for runs and clones, absolute or relative to the home directory. */
  workdir: string
}

/**
 * The placeholders in the texts of a bundle. The shim replaces them with the
 * folders of its machine and the token of the run, which no response contains.
 */
export const RUN_TOKEN = '@service-run-token@'
export const RUN_FOLDER = '/@service-run-folder@'
export const WORK_FOLDER = '/@service-work-folder@'

/** The command and the files of a run on another machine. */
export interface RunBundle {
  spec: RunSpec
  /** The files, with paths relative to the run's folder and the content in base64. */
  files: { path: string; content: string }[]
  /** The repository to clone into the working directory, if the directory does not exist. */
  clone: { url: string; ref: string | null } | null
}

/** A part of a file in the folder of the run, in base64. */
export interface ReportedPart {
  name: string
  offset: number
  data: string
}

export interface Report {
  /** The id of the shim that claimed the run. */
  instance: string
  /** The current time on the machine. The server corrects the times of the exit record with it. */
  clock: string
  parts: ReportedPart[]
  /** The exit record, sent last, after all parts are stored. */
  exit: ExitRecord | null
}

/** The reply of the server to a report. */
export interface ReportReply {
  /** The stored size of each reported file, in bytes. */
  sizes: Record<string, number>
  stop: { graceSec: number } | null
  budget: { budgetMicros: number | null } | null
}

/** Matches the names of the files that a shim reports. */
export const REPORTED_FILE = /^(facts\.jsonl|log\/head|log\/tail-\d{1,16})$/

/** The exit codes of a shim that did not start the run. The engine of the placement returns them. */
export const EXIT = {
  /** The API could not be reached. */
  unreachable: 69,
  /** The folder is not writable: no permission, or a full disk. */
  cannotWrite: 73,
  /** Node is too old. */
  oldNode: 78,
} as const

/** The status of a shim on a host without a batch system. */
export interface ShimStatus {
  runId: string
  isLive: boolean
  /** One of `EXIT` if the shim did not start its run; otherwise null. */
  exitCode: number | null
}
