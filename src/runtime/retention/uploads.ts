import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { deleteUnusedAssets, linkedAssetsJob, listUnusedAssets } from '../../organization/asset/retention-queries.ts'
import { noteDeletedFiles, removeLeftovers } from '../../organization/company/leftovers.ts'
import type { Context } from '../../platform/context.ts'

/** The number of uploads to search for in one pass over the texts. */
const PAGE = 100

/** The number of uploads to delete in one write. */
const BATCH = 20

/**
 * Deletes the uploads from before a time that are not attached, not a logo and
 * not linked in a text. Returns their number.
 */
export async function deleteUnusedUploads(ctx: Context, before: string, signal: AbortSignal): Promise<number> {
  let deleted = 0
  for (let after = ''; !signal.aborted; ) {
    const page = listUnusedAssets(ctx.db, { before, after, limit: PAGE })
    if (page.length === 0) break
    after = page.at(-1)!
    const options = { timeLimitMs: Number.POSITIVE_INFINITY }
    const linked = new Set(await ctx.reader.runApart(linkedAssetsJob, page, options))
    const ids = page.filter((id) => !linked.has(id))
    for (let at = 0; at < ids.length && !signal.aborted; at += BATCH) {
      deleted += await ctx.write(() => {
        const assets = deleteUnusedAssets(ctx.db, { ids: ids.slice(at, at + BATCH) })
        for (const { id, company_id, file_name } of assets) {
          recordActivity(ctx, SYSTEM, {
            companyId: company_id,
            action: 'asset.deleted',
            entity: { type: 'asset', id },
            details: { fileName: file_name, reason: 'retention' },
          })
        }
        noteDeletedFiles(
          ctx.db,
          'assets',
          assets.map(({ id }) => id),
        )
        return assets.length
      })
      await removeLeftovers(ctx)
    }
  }
  return deleted
}
