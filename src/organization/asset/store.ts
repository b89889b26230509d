import { hash } from 'node:crypto'
import { mkdir, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../platform/config.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import { contentTypeOf } from './content-type.ts'

/** A file on disk that has no row yet. */
export interface StoredFile {
  id: string
  fileName: string
  contentType: string
  bytes: number
  sha256: string
}

/**
 * Detects the type of an uploaded file and writes it to disk durably. Its path
 * consists of a new id, never of a name that a client sent.
 *
 * @param limit in bytes
 * @param accept decides which content types are allowed. Default: all.
 */
export async function storeFile(
  config: Config,
  file: File,
  limit: number,
  accept?: (contentType: string) => boolean,
): Promise<StoredFile> {
  if (file.size > limit) throw new AppError('body_too_large', `The file is larger than ${limit} bytes.`)
  if (file.size === 0) throw invalid([{ path: 'file', message: 'is empty' }])
  const content = new Uint8Array(await file.arrayBuffer())
  const contentType = contentTypeOf(content)
  if (accept && !accept(contentType)) {
    throw new AppError('unsupported_media_type', 'The file must be a PNG, JPEG, GIF, WebP or SVG image.')
  }
  const id = uuid()
  await mkdir(path.dirname(assetFile(config, id)), { recursive: true, mode: 0o700 })
  const target = await open(assetFile(config, id), 'wx', 0o600)
  try {
    await target.writeFile(content)
    await target.sync()
  } finally {
    await target.close()
  }
  return { id, fileName: baseName(file.name), contentType, bytes: content.length, sha256: hash('sha256', content) }
}

/** Reads a stored file. Returns undefined if it does not exist. */
export async function readAssetFile(config: Config, id: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(assetFile(config, id))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Removes stored files. A failure is logged, because the rows are deleted already. */
export async function removeAssetFiles(ctx: Context, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await rm(assetFile(ctx.config, id), { force: true }).catch((error) =>
      ctx.log.error('An uploaded file was not removed.', { assetId: id, error: String(error) }),
    )
  }
}

export const assetFile = (config: Config, id: string) => path.join(config.dataDir, 'assets', id)

/** Returns the last part of the client's file name, on one line. */
const baseName = (name: string) =>
  name.split(/[/\\]/).at(-1)!.replaceAll(/\p{C}/gu, '').slice(0, 200).toWellFormed() || 'file'
