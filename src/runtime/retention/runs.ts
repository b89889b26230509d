import { noteDeletedFiles, removeLeftovers } from '../../organization/company/leftovers.ts'
import {
  deleteUnreferencedRuns,
  type EndCursor,
  FIRST_END,
  listEndedRuns,
} from '../../organization/run/retention-queries.ts'
import type { Context } from '../../platform/context.ts'

const BATCH = 20

/** Deletes the runs that ended before a time and to which nothing refers, with their folders. Returns their number. */
export async function deleteEndedRuns(ctx: Context, before: string, signal: AbortSignal): Promise<number> {
  let deleted = 0
  for (let after: EndCursor = FIRST_END; !signal.aborted; ) {
    const page = listEndedRuns(ctx.db, { before, after, limit: BATCH })
    if (page.length === 0) break
    const ids = await ctx.write(() => {
      const gone = deleteUnreferencedRuns(ctx.db, { ids: page.map(({ id }) => id) })
      noteDeletedFiles(ctx.db, 'runs', gone)
      return gone
    })
    if (ids.length > 0) await removeLeftovers(ctx)
    deleted += ids.length
    after = page.at(-1)!
  }
  return deleted
}
