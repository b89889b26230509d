import { setImmediate as nextTurn } from 'node:timers/promises'
import { noteDeletedFiles, removeLeftovers } from '../../organization/company/leftovers.ts'
import {
  type EndCursor,
  FIRST_END,
  listKeptLogs,
  listUnmeasuredLogs,
  markLogsDeleted,
  setLogBytes,
} from '../../organization/run/retention-queries.ts'
import type { Context } from '../../platform/context.ts'
import { sizeOnDisk } from '../../platform/folder-size.ts'
import { runFolder } from '../process/run-files.ts'

/** The number of logs to measure or delete in one step. A step of 100 delayed requests by up to 100 ms. */
const BATCH = 20

/** The number of rows to read in one step of the sum, which takes a few milliseconds. */
const PAGE = 500

/** Stores the size of the log of each run that ended since the last pass. Returns their number. */
export async function measureLogs(ctx: Context, signal: AbortSignal): Promise<number> {
  for (let measured = 0; ; ) {
    const ids = signal.aborted ? [] : listUnmeasuredLogs(ctx.db, { limit: BATCH })
    if (ids.length === 0) return measured
    const sizes = await Promise.all(ids.map(async (id) => ({ id, bytes: await sizeOnDisk(runFolder(ctx.config, id)) })))
    await ctx.write(() => {
      for (const size of sizes) setLogBytes(ctx.db, size)
    })
    measured += ids.length
  }
}

/**
 * Deletes the folders of ended runs: those that ended before a time, and the
 * oldest ones until the rest is within the size limit. The rows of the runs
 * remain and record the deletion.
 *
 * @returns the number of deleted folders
 */
export async function deleteOldLogs(
  ctx: Context,
  limits: { before: string | null; maxBytes: number },
  signal: AbortSignal,
): Promise<number> {
  let excess = limits.maxBytes === 0 ? 0 : (await totalLogBytes(ctx, signal)) - limits.maxBytes
  for (let deleted = 0; ; ) {
    const ids: string[] = []
    for (const log of signal.aborted ? [] : listKeptLogs(ctx.db, { after: FIRST_END, limit: BATCH })) {
      const isOld = limits.before !== null && log.finished_at! < limits.before
      if (!isOld && excess <= 0) break
      ids.push(log.id)
      excess -= log.log_bytes!
    }
    if (ids.length === 0) return deleted
    deleted += await ctx.write(() => {
      const marked = markLogsDeleted(ctx.db, { ids, at: ctx.now })
      noteDeletedFiles(ctx.db, 'runs', marked)
      return marked.length
    })
    await removeLeftovers(ctx)
  }
}

async function totalLogBytes(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (let after: EndCursor = FIRST_END; !signal.aborted; ) {
    const page = listKeptLogs(ctx.db, { after, limit: PAGE })
    for (const log of page) total += log.log_bytes!
    if (page.length < PAGE) break
    after = page.at(-1)!
    await nextTurn()
  }
  return total
}
