import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { logFolder } from '../process/run-files.ts'

/** How much later than the shim the server enforces a limit, in milliseconds. */
const SLACK_MS = 5_000

/** The longest time a timer of Node can wait, in milliseconds: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export type LimitReason = 'timed_out' | 'silent'

/**
 * Enforces the time limits of a run a second time, after its shim should have
 * done so. A shim that was stopped (SIGSTOP) or that hangs enforces nothing.
 * The limits count from this call: for an adopted run they may come late, but
 * never early.
 *
 * @returns a function that ends the watch
 */
export function watchTimeLimits(
  runDir: string,
  limits: { timeoutSec: number | null; silenceSec: number | null },
  onReached: (reason: LimitReason) => void,
): () => void {
  const timers: NodeJS.Timeout[] = []
  const after = (seconds: number, run: () => void) =>
    setTimeout(run, Math.min(seconds * 1_000 + SLACK_MS, LONGEST_TIMER_MS)).unref()
  if (limits.timeoutSec) timers[0] = after(limits.timeoutSec, () => onReached('timed_out'))
  const { silenceSec } = limits
  if (silenceSec) {
    let seen = outputState(runDir)
    const check = () => {
      const state = outputState(runDir)
      if (state === seen) return onReached('silent')
      seen = state
      timers[1] = after(silenceSec, check)
    }
    timers[1] = after(silenceSec, check)
  }
  return () => {
    for (const timer of timers) clearTimeout(timer)
  }
}

/** Returns a text that changes whenever the run's log grows. */
function outputState(runDir: string): string {
  try {
    const folder = logFolder(runDir)
    return readdirSync(folder)
      .map((name) => `${name}:${statSync(path.join(folder, name)).size}`)
      .join()
  } catch {
    return ''
  }
}
