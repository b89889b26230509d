import { recordActivity } from '../../access/activity/record.ts'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { type AssetRow, LOGO_LIMIT } from './asset.ts'
import { isImage } from './content-type.ts'
import { findAsset, insertAsset } from './queries.ts'
import { readAssetFile, removeAssetFiles, type StoredFile, storeFile } from './store.ts'

/** Stores an image as a logo. A PATCH of `logoAssetId` then makes it the logo of the company. */
export async function uploadLogo(ctx: Context, caller: Caller, companyId: string, file: File): Promise<AssetRow> {
  const stored = await storeFile(ctx.config, file, LOGO_LIMIT, isImage)
  return writeRowsOf(ctx, stored, () => {
    recordActivity(ctx, caller, {
      companyId,
      action: 'asset.created',
      entity: { type: 'asset', id: stored.id },
      details: { fileName: stored.fileName, contentType: stored.contentType },
    })
    return insertStoredAsset(ctx, caller, companyId, stored)
  })
}

/**
 * Gets an asset and its content.
 *
 * @throws AppError 404 if the asset does not exist or belongs to another company
 */
export async function readAsset(ctx: Context, caller: Caller, id: string) {
  const asset = requireVisible(ctx, caller, findAsset(ctx.db, { id }), 'asset', id)
  const content = await readAssetFile(ctx.config, id)
  if (!content) throw notFound('asset', id)
  return { asset, content }
}

/** Writes the rows of a stored file. If the write fails, removes the file. */
export async function writeRowsOf<T>(ctx: Context, stored: StoredFile, write: () => T): Promise<T> {
  try {
    return await ctx.write(write)
  } catch (error) {
    await removeAssetFiles(ctx, [stored.id])
    throw error
  }
}

/** Inserts the asset row of a stored file. */
export function insertStoredAsset(ctx: Context, caller: Caller, companyId: string, stored: StoredFile): AssetRow {
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
