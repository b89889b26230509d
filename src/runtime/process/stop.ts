import { setTimeout as delay } from 'node:timers/promises'
import { killTree } from './end-tree.ts'
import type { RunRef } from './follow.ts'
import type { ProcessEntry } from './process-entry.ts'
import { findShim, isLive, isShim, type ProcessIdentity, signalProcess } from './process-table.ts'
import { readExit, writeStop } from './run-files.ts'

/** What the shim gets beyond the grace before it is killed with its group, in milliseconds. */
const BEYOND_GRACE_MS = 1_000

/**
 * Stops a run: asks its shim, and does the work itself when there is none or
 * it does not get through. Settles within the grace and two seconds, always,
 * when no process of the run is left.
 *
 * A record that is not of a shim of this run (another start time, another
 * boot, no marker) is never signalled.
 *
 * @returns what could not be ended: stuck in the kernel, or not ours
 */
export async function stopRun(ref: RunRef, graceSec: number): Promise<ProcessEntry[]> {
  const identity = ref.identity ?? findShim(ref.runId) ?? null
  const shim = identity && isShim(identity, ref.runId) ? identity : null
  if (shim) {
    const deadline = performance.now() + graceSec * 1_000 + BEYOND_GRACE_MS
    askShim(ref, shim, graceSec)
    // The death of what is no child has no event; the shim's record may come before it, so only its end counts.
    for (let pause = 5; isLive(shim) && performance.now() < deadline; pause = Math.min(pause * 1.5, 50)) {
      await delay(pause)
    }
    // The shim looked before it wrote its record: of a hundred runs that stop at once, each need not be looked for again.
    if (!isLive(shim) && readExit(ref.runDir)?.left === 0) return []
    killGroup(ref, shim)
  }
  return killTree({ runId: ref.runId, leader: identity })
}

/** Kills whatever carries the run's marker, without asking. */
export const sweepRun = (runId: string): Promise<ProcessEntry[]> => killTree({ runId, leader: null })

function askShim(ref: RunRef, shim: ProcessIdentity, graceSec: number): void {
  try {
    writeStop(ref.runDir, { graceSec })
  } catch {
    // A full disk. The shim does not listen without the request, so it is killed after the grace; the command is asked.
  }
  signalProcess(shim, 'SIGTERM')
}

/** The whole group at once, so that nothing in it can fork away. The shim lives, so the group's number is its own. */
function killGroup(ref: RunRef, shim: ProcessIdentity): void {
  if (!isShim(shim, ref.runId)) return
  try {
    process.kill(-shim.pid, 'SIGKILL')
  } catch {
    // It ended just now.
  }
}
