import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../platform/context.ts'
import { isDatabaseFault } from '../../platform/database/write-queue.ts'

/** Reads or changes a run's state in one transaction. */
export type Persist = <T>(change: () => T) => Promise<T>

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

/**
 * Creates a function that writes the state of runs. While the database is not
 * writable, the function retries with increasing waits: the processes continue
 * meanwhile, and their end must be recorded.
 *
 * @param isClosed returns true if the server is stopping; the first failure is then final
 */
export function createPersist(ctx: Context, isClosed: () => boolean): Persist {
  return async (change) => {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        return await ctx.write(change)
      } catch (error) {
        if (!isDatabaseFault(error) || isClosed()) throw error
        ctx.log.warn('The state of a run cannot be written. The server retries.', { error: String(error), waitMs })
        await delay(waitMs, undefined, { ref: false })
      }
    }
  }
}
