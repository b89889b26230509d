import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { Asset, type AssetRow, toAsset } from '../../organization/asset/asset.ts'

/** The maximum size of an attachment, in bytes. */
export const ATTACHMENT_LIMIT = 20 * 1024 * 1024

/** A file that is attached to an issue, as the API returns it. */
export const Attachment = v.strictObject({ ...Asset.entries, id: field.id, issueId: field.id })

export const toAttachment = (row: AssetRow & { attachment_id: string; issue_id: string }) => ({
  ...toAsset(row),
  id: row.attachment_id,
  issueId: row.issue_id,
})
