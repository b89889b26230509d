import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { lockDataDir } from '../../platform/database/lock.ts'
import { findKeyFile } from '../../platform/key-file.ts'
import { type CheckedArchive, checkArchive, type OnProgress } from './check.ts'
import type { Manifest } from './manifest.ts'
import { finishRestore, RESTORE_WORK, writePending } from './place.ts'

export interface RestoreOptions {
  archive: string
  dataDir: string
  now: Date
  onProgress?: OnProgress
}

export interface Restored extends CheckedArchive {
  /** The folder with the previous content of the data directory; null if it had none. */
  keptIn: string | null
}

/**
 * Replaces the content of a data directory by that of an archive that has passed
 * all checks. It moves the previous content aside and never deletes it. It
 * replaces keys only if the archive contains keys.
 *
 * @throws DataDirTaken while a server uses the data directory
 * @throws CliError for an archive that does not pass its checks; then nothing has changed
 */
export async function restoreBackup({ archive, dataDir, now, onProgress }: RestoreOptions): Promise<Restored> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(dataDir)
  try {
    finishRestore(dataDir)
    const work = mkdtempSync(path.join(dataDir, RESTORE_WORK))
    const from = path.join(work, 'files')
    const keepIn = path.join(dataDir, `before-restore-${now.toISOString().replaceAll(/[:.]/g, '-')}`)
    let checked: CheckedArchive
    try {
      const secretKey = () => findKeyFile({ dataDir: from }, 'secret') ?? findKeyFile({ dataDir }, 'secret')
      checked = await checkArchive(archive, from, { secretKey, ...(onProgress && { onProgress }) })
      relocate(path.join(from, 'service.db'), checked.manifest.dataDir, dataDir)
    } catch (error) {
      rmSync(work, { recursive: true, force: true })
      throw error
    }
    writePending(dataDir, { from, keepIn, step: 'move_aside' })
    finishRestore(dataDir)
    return { ...checked, keptIn: existsSync(keepIn) ? keepIn : null }
  } finally {
    lock.release()
  }
}

/**
 * Extracts an archive for a read-only server.
 *
 * @returns the temporary data directory, and `remove`, which deletes it
 * @throws CliError for an archive that does not pass its checks
 */
export async function extractForViewing(
  archive: string,
  onProgress: OnProgress,
): Promise<{ dataDir: string; manifest: Manifest; remove(): void }> {
  const work = mkdtempSync(path.join(tmpdir(), 'service-backup-'))
  const remove = () => rmSync(work, { recursive: true, force: true })
  const dataDir = path.join(work, 'data')
  try {
    const { manifest } = await checkArchive(archive, dataDir, { onProgress })
    return { dataDir, manifest, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * Changes the stored absolute paths of the agents' instructions to the folders
 * of this data directory.
 */
function relocate(database: string, oldDataDir: string, dataDir: string): void {
  if (oldDataDir === dataDir) return
  const sqlite = new Database(database)
  try {
    const old = `${path.join(oldDataDir, 'agents')}/`
    sqlite
      .prepare(
        `update agent set adapter_config = json_set(adapter_config, '$.instructionsFilePath',
           :new || substr(adapter_config ->> '$.instructionsFilePath', length(:old) + 1))
         where substr(adapter_config ->> '$.instructionsFilePath', 1, length(:old)) = :old`,
      )
      .run({ old, new: `${path.join(dataDir, 'agents')}/` })
    sqlite.pragma('journal_mode = delete')
  } finally {
    sqlite.close()
  }
}
