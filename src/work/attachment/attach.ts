import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import { deleteAssetRow } from '../../organization/asset/queries.ts'
import { removeAssetFiles, storeFile } from '../../organization/asset/store.ts'
import { insertStoredAsset, writeRowsOf } from '../../organization/asset/upload.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import { getIssue } from '../issue/get.ts'
import { recordIssue } from '../issue/record.ts'
import { ATTACHMENT_LIMIT } from './attachment.ts'
import { findAttachment, insertAttachment } from './queries.ts'

/** Attaches a file to an issue. */
export async function attachFile(ctx: Context, caller: Caller, issueRef: string, file: File) {
  const issue = getIssue(ctx, caller, issueRef)
  const stored = await storeFile(ctx.config, file, ATTACHMENT_LIMIT)
  return writeRowsOf(ctx, stored, () => {
    const current = getIssue(ctx, caller, issue.id)
    const { id, company_id } = current
    const attachmentId = uuid()
    insertStoredAsset(ctx, caller, company_id, stored)
    insertAttachment(ctx.db, { id: attachmentId, company_id, issue_id: id, asset_id: stored.id, created_at: ctx.now })
    recordIssue(ctx, caller, 'issue.attachment_added', current, { attachmentId, fileName: stored.fileName })
    return findAttachment(ctx.db, { id: attachmentId })!
  })
}

/** Removes a file from its issue. Only the board and the agent that attached the file may remove it. */
export async function removeAttachment(ctx: Context, caller: Caller, id: string) {
  const attachment = await ctx.write(() => {
    const attachment = requireVisible(ctx, caller, findAttachment(ctx.db, { id }), 'attachment', id)
    if (caller.type === 'agent' && attachment.created_by_agent_id !== caller.agentId) {
      throw forbidden('Only the board and the agent that attached the file may remove it.')
    }
    deleteAssetRow(ctx.db, attachment.id)
    const issue = getIssue(ctx, caller, attachment.issue_id)
    recordIssue(ctx, caller, 'issue.attachment_removed', issue, { attachmentId: id, fileName: attachment.file_name })
    return attachment
  })
  await removeAssetFiles(ctx, [attachment.id])
  return attachment
}
