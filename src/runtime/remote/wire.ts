import type { ExitRecord, RunSpec } from '../process/run-files.ts'

/** What a placement's engine hands to the shim of a run: all that it needs to fetch the rest from the server. */
export interface RemoteJob {
  runId: string
  /** The URL of the API, as this machine reaches it. */
  url: string
  /** The token of the run. */
  token: string
  /** The folder for runs and clones: absolute, or below the home directory. */
  workdir: string
}

/**
 * The placeholders for what the shim of the run knows: the folders of its
 * machine, and its token, which no response contains. They stand in every text
 * of a bundle.
 */
export const RUN_TOKEN = '@service-run-token@'
export const RUN_FOLDER = '/@service-run-folder@'
export const WORK_FOLDER = '/@service-work-folder@'

/** Everything that a run on another machine starts with. */
export interface RunBundle {
  spec: RunSpec
  /** Paths below the run's folder, with the content in base64. */
  files: { path: string; content: string }[]
  /** The repository to clone into the working directory, if that does not exist. */
  clone: { url: string; ref: string | null } | null
}

/** A part of a file in the folder of the run, in base64. */
export interface ReportedPart {
  name: string
  offset: number
  data: string
}

export interface Report {
  /** Identifies the shim that claimed the run. */
  instance: string
  /** The clock of the machine, so that the server can correct the times of the exit record. */
  clock: string
  parts: ReportedPart[]
  /** Sent last, when every part is stored. */
  exit: ExitRecord | null
}

/** What the server knows and wants after a report. */
export interface ReportReply {
  /** How many bytes of each reported file the server has. */
  sizes: Record<string, number>
  stop: { graceSec: number } | null
  budget: { budgetMicros: number | null } | null
}

/** The names of the files that a shim reports. */
export const REPORTED_FILE = /^(facts\.jsonl|log\/head|log\/tail-\d{1,16})$/

/** The exit codes of a shim that started nothing. The engine of the placement returns them. */
export const EXIT = {
  /** The API could not be reached. */
  unreachable: 69,
  /** The folder cannot be written: no permission, or a full disk. */
  cannotWrite: 73,
  /** Node is too old. */
  oldNode: 78,
} as const
