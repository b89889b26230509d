import { setTimeout as delay } from 'node:timers/promises'
import { killTree } from './end-tree.ts'
import type { RunRef } from './follow.ts'
import type { ProcessEntry } from './process-entry.ts'
import { findShim, isLive, isShim, type ProcessIdentity, signalProcess } from './process-table.ts'
import { readExit, writeStop } from './run-files.ts'

/** The time that the shim has after the grace before it is killed with its group, in milliseconds. */
const BEYOND_GRACE_MS = 1_000

/**
 * Stops a run: requests the stop from its shim, and kills the processes itself
 * if there is no shim or the shim does not succeed. Resolves within the grace
 * plus two seconds.
 *
 * It never signals a process that is not proved to be the shim of this run
 * (another start time, another boot, no marker).
 *
 * @param graceSec the time between SIGTERM and SIGKILL, in seconds
 * @returns the processes that could not be ended: stuck in the kernel, or owned by another user
 */
export async function stopRun(ref: RunRef, graceSec: number): Promise<ProcessEntry[]> {
  const identity = ref.identity ?? findShim(ref.runId) ?? null
  const shim = identity && isShim(identity, ref.runId) ? identity : null
  if (shim) {
    const deadline = performance.now() + graceSec * 1_000 + BEYOND_GRACE_MS
    requestStop(ref, shim, graceSec)
    // The shim of an adopted run is not a child, so its exit causes no event. It writes its record before it exits.
    for (let pause = 5; isLive(shim) && performance.now() < deadline; pause = Math.min(pause * 1.5, 50)) {
      await delay(pause)
    }
    // The shim scanned the machine before it wrote its record. A second scan for each of a hundred stopped runs would be slow.
    if (!isLive(shim) && readExit(ref.runDir)?.left === 0) return []
    killGroup(ref, shim)
  }
  return killTree({ runId: ref.runId, leader: identity })
}

/** Kills all processes that carry the run's marker, without grace. */
export const killRun = (runId: string): Promise<ProcessEntry[]> => killTree({ runId, leader: null })

function requestStop(ref: RunRef, shim: ProcessIdentity, graceSec: number): void {
  try {
    writeStop(ref.runDir, { graceSec })
  } catch {
    // The disk is full. Without the file the shim ignores the signal, and is killed after the grace.
  }
  signalProcess(shim, 'SIGTERM')
}

/** Kills the whole process group at once, which prevents forks. The shim lives, so the group's number is not reused. */
function killGroup(ref: RunRef, shim: ProcessIdentity): void {
  if (!isShim(shim, ref.runId)) return
  try {
    process.kill(-shim.pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
