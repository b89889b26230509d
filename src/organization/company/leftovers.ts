import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'

/**
 * Notes what a company has in the data directory, within the write that deletes
 * its rows: so it is known after a crash too, and nothing else is. To look for
 * what no row owns instead would read every folder at each start, and take what
 * is of use to a newer copy of the database while an older one is tried.
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
      .expression(owned('agents', 'agent').unionAll(owned('assets', 'asset')).unionAll(owned('runs', 'run'))),
  )
  db.run(sql.insertInto('leftover').values({ folder: 'skills', id: companyId }))
}

/** How many are removed at a time, and forgotten in one write. */
const BATCH = 100

/**
 * Removes from the disk what deleted companies had there. A link is removed, not
 * followed. What cannot be removed is logged, and tried again with the next
 * company that is deleted and at the next start: it keeps neither the deletion
 * from being answered nor a server from starting, and no full disk does.
 */
export async function removeLeftovers(ctx: Context): Promise<void> {
  const all = ctx.db.all(sql.selectFrom('leftover').selectAll())
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH)
    const gone = await Promise.all(
      batch.map(async ({ folder, id }) => {
        try {
          await rm(path.join(ctx.config.dataDir, folder, id), { recursive: true, force: true })
          return [id]
        } catch (error) {
          ctx.log.error('What a deleted company had was not removed.', { folder, id, error: String(error) })
          return []
        }
      }),
    )
    const forget = sql.deleteFrom('leftover').where('id', 'in', gone.flat())
    await ctx
      .write(() => ctx.db.run(forget))
      .catch((error) => ctx.log.warn('What was removed will be looked for again.', { error: String(error) }))
  }
}
