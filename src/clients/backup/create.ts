import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import path from 'node:path'
import type { Database } from 'better-sqlite3'
import { packageVersion } from '../../platform/config.ts'
import { openReadOnly } from '../../platform/database/reader-thread.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { type ArchiveFile, filesBelow, writeArchive } from './archive.ts'
import { type CheckedArchive, checkArchive, type OnProgress } from './check.ts'
import { FOLDERS, KEYS_FOLDER } from './names.ts'
import { syncFolder } from './place.ts'

export interface BackupOptions {
  dataDir: string
  /** The archive to write, absolute; must not exist. */
  out: string
  withKeys?: boolean
  now: Date
  onProgress?: OnProgress
}

export interface Backup extends CheckedArchive {
  file: string
  bytes: number
}

/** The number of pages of 4 KB to copy at a time. */
const PAGES = 1_000

/**
 * Writes an archive of a data directory, which a server may use meanwhile, and
 * checks it: reads it back, compares every hash, opens the database and runs its
 * checks. The archive has a temporary name until then.
 *
 * @throws CliError when there is no database, no space, or the archive does not pass its checks
 */
export async function createBackup({
  dataDir,
  out,
  withKeys = false,
  now,
  onProgress = () => {},
}: BackupOptions): Promise<Backup> {
  const database = path.join(dataDir, 'service.db')
  if (!existsSync(database)) {
    throw new CliError(EXIT.notFound, `There is no database in ${dataDir}. Name another with --data-dir.`)
  }
  if (existsSync(out)) throw new CliError(EXIT.conflict, `${out} exists already. Name another file with --out.`)
  const folder = path.dirname(out)
  const work = makeWorkFolder(folder)
  try {
    const files = await listFiles(dataDir, withKeys)
    requireSpace(folder, statSync(database).size, files)
    const sqlite = openReadOnly(database)
    const copy = path.join(work, 'service.db')
    const schema = sqlite.pragma('user_version', { simple: true }) as number
    await copyDatabase(sqlite, copy, (done) => onProgress('copying the database', done))
    const contents: ArchiveFile[] = [
      { name: 'service.db', file: copy, bytes: statSync(copy).size, mode: 0o600 },
      // The files are listed after the snapshot, so all files to which it refers are in the list.
      ...(await listFiles(dataDir, withKeys)),
    ]
    const total = contents.reduce((sum, { bytes }) => sum + bytes, 0)
    let read = 0
    const about = { version: packageVersion(), schema, createdAt: now.toISOString(), dataDir, hasKeys: withKeys }
    const partial = path.join(work, 'archive')
    await writeArchive(partial, contents, about, (bytes) => {
      read += bytes
      onProgress('writing the archive', read / total)
    })
    rmSync(copy)
    const checked = await checkArchive(partial, path.join(work, 'check'), { onProgress })
    renameSync(partial, out)
    syncFolder(folder)
    return { ...checked, file: out, bytes: statSync(out).size }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Creates a folder for the files of one command, below another folder. The command deletes it at its end. */
export function makeWorkFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  removeAbandoned(folder)
  return mkdtempSync(path.join(folder, `${WORK}${process.pid}-`))
}

/** The prefix of the name of a backup's temporary folder. The pid of its process follows. */
const WORK = '.backup-'

/** Deletes the temporary folders of backups that were killed. Returns their paths. */
export function removeAbandoned(folder: string): string[] {
  const abandoned = readdirSync(folder).filter((name) => {
    const pid = name.startsWith(WORK) ? Number.parseInt(name.slice(WORK.length), 10) : Number.NaN
    return pid > 0 && !isAlive(pid)
  })
  return abandoned.map((name) => {
    rmSync(path.join(folder, name), { recursive: true, force: true })
    return path.join(folder, name)
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function listFiles(dataDir: string, withKeys: boolean): Promise<ArchiveFile[]> {
  const folders = withKeys ? [...FOLDERS, KEYS_FOLDER] : FOLDERS
  const below = await Promise.all(folders.map((name) => filesBelow(path.join(dataDir, name), name)))
  const config = path.join(dataDir, 'config.json')
  const stat = lstatSync(config, { throwIfNoEntry: false })
  const own = stat?.isFile() ? [{ name: 'config.json', file: config, bytes: stat.size, mode: 0o600 }] : []
  // The keys that belong to the current start of the server are useless elsewhere.
  return [
    ...own,
    ...below.flat().filter(({ name }) => (name.startsWith(`${KEYS_FOLDER}/`) ? name.endsWith('.key') : true)),
  ]
}

/** Checks the free disk space. Temporarily there are two copies of the database: a plain one and the archive. */
function requireSpace(folder: string, databaseBytes: number, files: readonly ArchiveFile[]): void {
  const needed = 2 * (databaseBytes + files.reduce((sum, { bytes }) => sum + bytes, 0))
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < needed) {
    const mb = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`
    throw new CliError(
      EXIT.failure,
      `The backup can need ${mb(needed)} in ${folder}, where ${mb(bavail * bsize)} are free. Free some space, or write it elsewhere with --out.`,
    )
  }
}

/**
 * Copies one snapshot of the database. The read transaction holds the snapshot;
 * without it SQLite restarts the copy whenever a server writes.
 */
export async function copyDatabase(
  sqlite: Database,
  copy: string,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  try {
    sqlite.exec('begin')
    sqlite.prepare('select count(*) from sqlite_master').get()
    await sqlite.backup(copy, {
      progress({ totalPages, remainingPages }) {
        if (totalPages > 0) onProgress(1 - remainingPages / totalPages)
        return PAGES
      },
    })
    onProgress(1)
  } finally {
    sqlite.close()
  }
}
