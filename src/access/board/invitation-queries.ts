import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { InvitationTable } from '../../platform/database/tables.ts'

export const insertInvitation = (db: Db, row: Insertable<InvitationTable>) =>
  db.run(sql.insertInto('invitation').values(row))

export const findInvitation = (db: Db, key: { companyId: string; id: string }) =>
  db.first(sql.selectFrom('invitation').selectAll().where('company_id', '=', key.companyId).where('id', '=', key.id))

export const findInvitationByHash = (db: Db, key: { hash: string }) =>
  db.first(sql.selectFrom('invitation').selectAll().where('hash', '=', key.hash))

/** Newest first. */
export function listInvitations(db: Db, page: { companyId: string; after: string | undefined; limit: number }) {
  const query = sql
    .selectFrom('invitation')
    .selectAll()
    .where('company_id', '=', page.companyId)
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
  return db.all(page.after === undefined ? query : query.where('id', '<', page.after))
}

export const updateInvitation = (db: Db, id: string, change: Updateable<InvitationTable>) =>
  db.first(sql.updateTable('invitation').set(change).where('id', '=', id).returningAll())!
