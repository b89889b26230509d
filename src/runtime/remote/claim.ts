import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { causeOf, post, Refused } from './request.ts'
import { EXIT, type RemoteJob, type RunBundle } from './wire.ts'

/** The time in which a shim retries its claim, in milliseconds. It is longer than a restart of the server. */
const PATIENCE_MS = 5 * 60_000
const LONGEST_WAIT_MS = 5_000

/**
 * Claims the run for this process and returns its bundle. The server gives the
 * bundle to one shim only. If an engine starts a job twice, only one shim runs it.
 *
 * @returns the bundle, or the exit code if this process must not start the run
 */
export async function claimRun(
  job: RemoteJob,
  instance: string,
  patienceMs = PATIENCE_MS,
): Promise<RunBundle | number> {
  const deadline = performance.now() + patienceMs
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await post<RunBundle>(job, 'bundle', { instance, node: hostname(), clock: new Date().toISOString() })
    } catch (error) {
      if (error instanceof Refused && !error.isTransient) {
        // The run was stopped, was claimed by another shim, or cannot be started. The server has recorded it.
        process.stderr.write(`${error.message}\n`)
        return 0
      }
      if (performance.now() > deadline) {
        process.stderr.write(`The API at ${job.url} cannot be reached: ${causeOf(error)}\n`)
        return EXIT.unreachable
      }
      await delay(waitMs)
    }
  }
}
