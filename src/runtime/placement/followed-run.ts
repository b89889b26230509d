import { mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunRow } from '../../organization/run/run.ts'
import type { Config } from '../../platform/config.ts'
import { type ExitRecord, readExit, readStop, runFolder, writeExit } from '../process/run-files.ts'
import { readClaim } from './claim-file.ts'

/** A run in a placement that this server follows. */
export interface Followed {
  run: RunRow
  runDir: string
  /** Undefined until it is submitted or found. */
  jobId: string | undefined
  lastSeen: number
  lastStatus: string
  gone: PromiseWithResolvers<void>
  isGone: boolean
  /** The reason why the job is gone, as a sentence. */
  cause: string | null
  begun: PromiseWithResolvers<void>
}

/** Creates the record of a run, and its folder if it has none. */
export function createFollowed(config: Pick<Config, 'dataDir'>, run: RunRow, jobId: string | undefined): Followed {
  const followed: Followed = {
    run,
    runDir: runFolder(config, run.id),
    jobId,
    lastSeen: performance.now(),
    lastStatus: '',
    gone: Promise.withResolvers(),
    isGone: false,
    cause: null,
    begun: Promise.withResolvers(),
  }
  if (readClaim(followed.runDir)) followed.begun.resolve()
  mkdirSync(followed.runDir, { recursive: true, mode: 0o700 })
  return followed
}

/** Records that the job of a run is gone. The run then ends as its exit record says, or as lost. */
export function markGone(followed: Followed, cause: string | null): void {
  if (followed.isGone) return
  followed.cause = cause
  followed.isGone = true
  followed.gone.resolve()
}

/** Whether the run has ended or its job is gone. */
export const isOver = (followed: Followed) => followed.isGone || readExit(followed.runDir) !== undefined

/** Resolves when the run is over. */
export async function untilOver(followed: Followed): Promise<void> {
  while (!isOver(followed)) await delay(100, undefined, { ref: false })
}

/** Writes the exit record of a run whose job is gone and that left no exit record. */
export function writeLostExit({ run, runDir, jobId, cause }: Followed, now: string): ExitRecord {
  const isBegun = readClaim(runDir) !== undefined
  const reason = readStop(runDir) ? 'stopped' : isBegun ? 'lost' : jobId ? 'spawn_failed' : 'never_started'
  const message =
    cause ?? `The placement ${run.placement} no longer has the job of the run, and the run did not report its end.`
  const record: ExitRecord = {
    exitCode: null,
    signal: null,
    reason,
    ...(reason !== 'stopped' && { error: { code: isBegun ? 'lost' : 'placement_unavailable', message } }),
    startedAt: null,
    finishedAt: now,
    bytes: { stdout: 0, stderr: 0 },
    strays: 0,
    left: 0,
  }
  writeExit(runDir, record)
  return record
}
