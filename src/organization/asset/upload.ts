import { v7 as uuid } from 'uuid'
import { recordActivity } from '../../access/activity/record.ts'
import { actorOf, type Caller, isOfCompany } from '../../access/caller.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden, notFound } from '../../platform/errors.ts'
import { getIssue } from '../../work/issue/get.ts'
import { type AssetRow, ATTACHMENT_LIMIT, LOGO_LIMIT } from './asset.ts'
import { isImage } from './content-type.ts'
import { deleteAssetRow, findAsset, findAttachment, insertAsset, insertAttachment } from './queries.ts'
import { readAssetFile, removeAssetFiles, type StoredFile, storeFile } from './store.ts'

/** Takes an image in as a logo. It becomes the company's by a PATCH of `logoAssetId`. */
export async function uploadLogo(ctx: Context, caller: Caller, companyId: string, file: File): Promise<AssetRow> {
  const stored = await storeFile(ctx.config, file, LOGO_LIMIT, isImage)
  return keep(ctx, stored, () => {
    recordActivity(ctx, caller, {
      companyId,
      action: 'asset.created',
      entity: { type: 'asset', id: stored.id },
      details: { fileName: stored.fileName, contentType: stored.contentType },
    })
    return insertStored(ctx, caller, companyId, stored)
  })
}

/** Attaches a file to an issue. */
export async function attachFile(ctx: Context, caller: Caller, issueRef: string, file: File) {
  const issue = getIssue(ctx, caller, issueRef)
  const stored = await storeFile(ctx.config, file, ATTACHMENT_LIMIT)
  return keep(ctx, stored, () => {
    const { id, company_id } = getIssue(ctx, caller, issue.id)
    const attachmentId = uuid()
    insertStored(ctx, caller, company_id, stored)
    insertAttachment(ctx.db, { id: attachmentId, company_id, issue_id: id, asset_id: stored.id, created_at: ctx.now })
    recordActivity(ctx, caller, {
      companyId: company_id,
      action: 'issue.attachment_added',
      entity: { type: 'issue', id },
      details: { attachmentId, fileName: stored.fileName },
    })
    return findAttachment(ctx.db, { id: attachmentId })!
  })
}

/** Removes a file from its issue, for the board and the agent that attached it. */
export async function removeAttachment(ctx: Context, caller: Caller, id: string) {
  const attachment = await ctx.write(() => {
    const attachment = findAttachment(ctx.db, { id })
    if (!attachment || !isOfCompany(caller, attachment.company_id)) throw notFound('attachment', id)
    if (caller.type === 'agent' && attachment.created_by_agent_id !== caller.agentId) {
      throw forbidden('Only the board and the agent that attached a file may remove it.')
    }
    deleteAssetRow(ctx.db, attachment.id)
    recordActivity(ctx, caller, {
      companyId: attachment.company_id,
      action: 'issue.attachment_removed',
      entity: { type: 'issue', id: attachment.issue_id },
      details: { attachmentId: id, fileName: attachment.file_name },
    })
    return attachment
  })
  await removeAssetFiles(ctx, [attachment.id])
  return attachment
}

/** Gets an asset and its content; one of another company is as unknown as one that is nowhere. */
export async function readAsset(ctx: Context, caller: Caller, id: string) {
  const asset = findAsset(ctx.db, { id })
  if (!asset || !isOfCompany(caller, asset.company_id)) throw notFound('asset', id)
  const content = await readAssetFile(ctx.config, id)
  if (!content) throw notFound('asset', id)
  return { asset, content }
}

/** Writes the rows of a stored file, and removes the file again when they do not come to stand. */
async function keep<T>(ctx: Context, stored: StoredFile, write: () => T): Promise<T> {
  try {
    return await ctx.write(write)
  } catch (error) {
    await removeAssetFiles(ctx, [stored.id])
    throw error
  }
}

function insertStored(ctx: Context, caller: Caller, companyId: string, stored: StoredFile): AssetRow {
  const actor = actorOf(caller)
  return insertAsset(ctx.db, {
    id: stored.id,
    company_id: companyId,
    file_name: stored.fileName,
    content_type: stored.contentType,
    bytes: stored.bytes,
    sha256: stored.sha256,
    created_by_agent_id: actor.type === 'agent' ? actor.id : null,
    created_by_user_id: actor.type === 'user' ? actor.id : null,
    created_by_run_id: caller.type === 'agent' ? caller.runId : null,
    created_at: ctx.now,
  })
}
