import { chmodSync, existsSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { isSea } from 'node:sea'
import { countLiveRuns } from '../../organization/run/queries.ts'
import { DataDirTaken, lockDataDir } from '../../platform/database/lock.ts'
import { serverInfoFile, serverKeysFile } from '../../platform/database/server-info.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { removeAbandoned } from '../backup/create.ts'
import { pendingFile, RESTORE_WORK } from '../backup/place.ts'
import { backupFolder } from '../backup/schedule.ts'
import { readDatabase } from './read-database.ts'

/** One repair that was made. */
export interface Fix {
  id: 'permissions' | 'stale_files' | 'temporary_files' | 'empty_worktrees' | 'old_programs'
  message: string
}

/**
 * Repairs what is safe, and returns what it did. It changes permissions, and
 * deletes files that nothing uses and that contain no data. While a server uses
 * the data directory, it only corrects permissions.
 */
export function fixAll(dataDir: string): Fix[] {
  if (!isDataDir(dataDir)) return []
  const fixes = fixPermissions(dataDir)
  const stale = [serverInfoFile(dataDir), serverKeysFile(dataDir)].filter((file) => existsSync(file))
  let lock: ReturnType<typeof lockDataDir>
  try {
    lock = lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof DataDirTaken) return fixes
    throw error
  }
  try {
    // Taking the lock and releasing it removes the files of a server that was killed.
    for (const file of stale) fixes.push({ id: 'stale_files', message: `Removed ${file}, which a killed server left.` })
    return [...fixes, ...removeTemporary(dataDir), ...removeEmptyWorktrees(dataDir), ...removeOldPrograms(dataDir)]
  } finally {
    lock.release()
  }
}

/** Whether a folder is a data directory. The permissions of another folder are not ours. */
const isDataDir = (folder: string) =>
  ['service.db', 'config.json', 'keys'].some((name) => existsSync(path.join(folder, name)))

/** Removes the access of other users to the data directory, its keys and its database. */
function fixPermissions(dataDir: string): Fix[] {
  const keys = path.join(dataDir, 'keys')
  const inKeys = existsSync(keys) ? readdirSync(keys).map((name) => path.join(keys, name)) : []
  const inData = readdirSync(dataDir).filter((name) => /^(service\.db|config\.json)/.test(name))
  return [dataDir, keys, ...inKeys, ...inData.map((name) => path.join(dataDir, name))].flatMap((file): Fix[] => {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode
    if (mode === undefined || (mode & 0o077) === 0) return []
    chmodSync(file, mode & 0o700)
    const modes = `${(mode & 0o777).toString(8)} to ${(mode & 0o700).toString(8)}`
    return [{ id: 'permissions', message: `Changed the permissions of ${file} from ${modes}.` }]
  })
}

/** Removes the files of commands that were killed. */
function removeTemporary(dataDir: string): Fix[] {
  const pending = pendingFile(dataDir)
  const partial = [`${pending}.tmp`].filter((file) => existsSync(file))
  // A restore holds the lock while it uses its folder. The next start finishes a pending one, which needs the folder.
  const restores = existsSync(pending) ? [] : readdirSync(dataDir).filter((name) => name.startsWith(RESTORE_WORK))
  partial.push(...restores.map((name) => path.join(dataDir, name)))
  for (const file of partial) rmSync(file, { recursive: true })
  const folder = backupFolder(dataDir)
  const abandoned = existsSync(folder) ? removeAbandoned(folder) : []
  return [...partial, ...abandoned].map((file) => ({
    id: 'temporary_files',
    message: `Removed ${file}, which a killed command left.`,
  }))
}

/** Removes empty folders of worktrees. A folder with content may contain work and stays. */
function removeEmptyWorktrees(dataDir: string): Fix[] {
  const folder = path.join(dataDir, 'worktrees')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): Fix[] => {
    const worktree = path.join(folder, entry.name)
    if (!entry.isDirectory() || readdirSync(worktree).length > 0) return []
    rmdirSync(worktree)
    return [{ id: 'empty_worktrees', message: `Removed the empty folder ${worktree}.` }]
  })
}

/** Removes the programs that earlier versions of the single executable unpacked, unless a run still uses one. */
function removeOldPrograms(dataDir: string): Fix[] {
  const folder = path.join(dataDir, 'program')
  if (!isSea() || !existsSync(folder) || hasLiveRuns(dataDir)) return []
  return readdirSync(folder)
    .filter((name) => name !== path.basename(packageRoot()))
    .map((name): Fix => {
      rmSync(path.join(folder, name), { recursive: true })
      return { id: 'old_programs', message: `Removed ${path.join(folder, name)}, the program of another version.` }
    })
}

/** Whether the database has a run that has not ended. Returns true if the database cannot be read. */
const hasLiveRuns = (dataDir: string): boolean =>
  existsSync(path.join(dataDir, 'service.db')) && readDatabase(dataDir, countLiveRuns) !== 0
