import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { LabelTable } from '../../platform/database/tables.ts'
import type { LabelRow } from './label.ts'

export const findLabel = (db: Db, key: { id: string }): LabelRow | undefined =>
  db.first(sql.selectFrom('label').selectAll().where('id', '=', key.id))

/** Finds a label by its name, ignoring the case of ASCII letters. */
export const findLabelByName = (db: Db, key: { companyId: string; name: string }): LabelRow | undefined =>
  db.first(sql.selectFrom('label').selectAll().where('company_id', '=', key.companyId).where('name', '=', key.name))

export const selectLabels = (of: { companyId: string }) =>
  sql.selectFrom('label').selectAll().where('company_id', '=', of.companyId)

/** Returns all labels of a company, by name. */
export const listLabels = (db: Db, of: { companyId: string }): LabelRow[] => db.all(selectLabels(of).orderBy('name'))

export const insertLabel = (db: Db, row: Insertable<LabelTable>): LabelRow =>
  db.first(sql.insertInto('label').values(row).returningAll())!

export const updateLabelRow = (db: Db, id: string, change: Updateable<LabelTable>): LabelRow =>
  db.first(sql.updateTable('label').set(change).where('id', '=', id).returningAll())!

export const deleteLabelRow = (db: Db, id: string) => db.run(sql.deleteFrom('label').where('id', '=', id))
