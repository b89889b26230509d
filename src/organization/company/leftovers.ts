import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'

/**
 * Records the files of a company in the write that deletes its rows, so that a
 * crash does not lose track of them. Searching for files without rows instead
 * would read every folder at each start, and could remove files that a newer
 * copy of the database needs.
 */
export function noteLeftovers(db: Db, companyId: string): void {
  const owned = (folder: 'agents' | 'assets' | 'runs', table: 'agent' | 'asset' | 'run') =>
    sql
      .selectFrom(table)
      .select([raw<typeof folder>`${folder}`.as('folder'), 'id'])
      .where('company_id', '=', companyId)
  db.run(
    sql
      .insertInto('leftover')
      .columns(['folder', 'id'])
      .expression(owned('agents', 'agent').unionAll(owned('assets', 'asset')).unionAll(owned('runs', 'run')))
      // Retention may have recorded some of them already.
      .onConflict((conflict) => conflict.doNothing()),
  )
  db.run(sql.insertInto('leftover').values({ folder: 'skills', id: companyId }))
}

/** Records the files of rows that the same write deletes. The files are then no longer in use. */
export function noteDeletedFiles(db: Db, folder: 'assets' | 'runs', ids: readonly string[]): void {
  if (ids.length === 0) return
  const rows = ids.map((id) => ({ folder, id }))
  db.run(
    sql
      .insertInto('leftover')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing()),
  )
}

/** The number of entries that are removed at a time, and deleted in one write. */
const BATCH = 100

/**
 * Removes the files of deleted companies, runs and uploads from the disk. A link is removed and
 * not followed. A failure is logged, and the removal is tried again at the next
 * deletion and at the next start. No failure prevents the response to a
 * deletion, or the start of the server.
 */
export async function removeLeftovers(ctx: Context): Promise<void> {
  const all = ctx.db.all(sql.selectFrom('leftover').selectAll())
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH)
    const gone = await Promise.all(
      batch.map(async ({ folder, id }) => {
        try {
          for (const place of folder === 'agents' ? ['agents', 'sandbox'] : [folder]) {
            await rm(path.join(ctx.config.dataDir, place, id), { recursive: true, force: true })
          }
          return [id]
        } catch (error) {
          ctx.log.error('The folder of a deleted record could not be removed.', { folder, id, error: String(error) })
          return []
        }
      }),
    )
    const forget = sql.deleteFrom('leftover').where('id', 'in', gone.flat())
    await ctx
      .write(() => ctx.db.run(forget))
      .catch((error) =>
        ctx.log.warn('The remaining files of deleted records could not be removed. The server retries.', {
          error: String(error),
        }),
      )
  }
}
