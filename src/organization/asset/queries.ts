import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { AssetTable, AttachmentTable } from '../../platform/database/tables.ts'
import type { AssetRow } from './asset.ts'

export const findAsset = (db: Db, key: { id: string }): AssetRow | undefined =>
  db.first(sql.selectFrom('asset').selectAll().where('id', '=', key.id))

export const insertAsset = (db: Db, row: Insertable<AssetTable>): AssetRow =>
  db.first(sql.insertInto('asset').values(row).returningAll())!

export const deleteAssetRow = (db: Db, id: string) => db.run(sql.deleteFrom('asset').where('id', '=', id))

export const insertAttachment = (db: Db, row: Insertable<AttachmentTable>) =>
  db.run(sql.insertInto('attachment').values(row))

const attachments = sql
  .selectFrom('attachment')
  .innerJoin('asset', 'asset.id', 'attachment.asset_id')
  .selectAll('asset')
  .select(['attachment.id as attachment_id', 'issue_id'])

export const findAttachment = (db: Db, key: { id: string }) => db.first(attachments.where('attachment.id', '=', key.id))

/** The files on an issue, oldest first. */
export const listAttachments = (db: Db, of: { issueId: string }) =>
  db.all(attachments.where('issue_id', '=', of.issueId).orderBy('attachment.id'))
