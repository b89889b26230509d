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

export const selectInvitations = (of: { companyId: string }) =>
  sql.selectFrom('invitation').selectAll().where('company_id', '=', of.companyId)

export const updateInvitation = (db: Db, id: string, change: Updateable<InvitationTable>) =>
  db.first(sql.updateTable('invitation').set(change).where('id', '=', id).returningAll())!
