import { deleteServedWakes } from '../../organization/wake/queries.ts'
import type { Context } from '../../platform/context.ts'

const BATCH = 200

/** Deletes the wakes that were claimed or dropped before a time. Returns their number. */
export async function deleteOldWakes(ctx: Context, before: string, signal: AbortSignal): Promise<number> {
  for (let deleted = 0; ; ) {
    const n = signal.aborted ? 0 : await ctx.write(() => deleteServedWakes(ctx.db, { before, limit: BATCH }))
    deleted += n
    if (n < BATCH) return deleted
  }
}
