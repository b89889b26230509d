import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../platform/context.ts'
import { isDatabaseFault } from '../../platform/database/write-queue.ts'

/** Runs a change of a run's state in a transaction. */
export type Persist = (change: () => void) => Promise<void>

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

/**
 * Creates a function that writes the state of runs. While the database cannot
 * be written, the function tries again with increasing waits: the run goes on
 * regardless, and its end must be recorded.
 *
 * @param isClosed returns whether the server stops; then the first failure is final
 */
export function createPersist(ctx: Context, isClosed: () => boolean): Persist {
  return async (change) => {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        return await ctx.write(change)
      } catch (error) {
        if (!isDatabaseFault(error) || isClosed()) throw error
        ctx.log.warn('The state of a run cannot be written. It is tried again.', { error: String(error), waitMs })
        await delay(waitMs, undefined, { ref: false })
      }
    }
  }
}
