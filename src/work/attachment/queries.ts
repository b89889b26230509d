import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { AttachmentTable } from '../../platform/database/tables.ts'

export const insertAttachment = (db: Db, row: Insertable<AttachmentTable>) =>
  db.run(sql.insertInto('attachment').values(row))

const attachments = sql
  .selectFrom('attachment')
  .innerJoin('asset', 'asset.id', 'attachment.asset_id')
  .selectAll('asset')
  .select(['attachment.id as attachment_id', 'issue_id'])

export const findAttachment = (db: Db, key: { id: string }) => db.first(attachments.where('attachment.id', '=', key.id))

/** Lists the files that are attached to an issue, oldest first. */
export const listAttachments = (db: Db, of: { issueId: string }) =>
  db.all(attachments.where('issue_id', '=', of.issueId).orderBy('attachment.id'))
