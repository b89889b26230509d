import { existsSync, globSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Database as Sqlite } from 'better-sqlite3'
import { AppError } from '../errors.ts'

/** Exists while the database is open, and after a crash: then the WAL file has changes that are nowhere else. */
const markerOf = (file: string) => `${file}-open`

const walOf = (file: string) => `${file}-wal`

/**
 * Refuses to open a database without its WAL file if it was not closed
 * properly. SQLite removes the WAL file only when it closes the database.
 *
 * @throws AppError with instructions for the operator
 */
export function refuseMissingWal(file: string): void {
  if (!existsSync(markerOf(file)) || !existsSync(file) || existsSync(walOf(file))) return
  throw new AppError(
    'database_damaged',
    `${walOf(file)} is missing, but the database was not closed properly: the latest changes were in that file. Restore the file, or restore a backup (service restore FILE). To start without these changes, remove ${markerOf(file)}.`,
  )
}

/** Records that the database is open, until it is closed. */
export function recordOpen(sqlite: Sqlite, file: string): void {
  writeFileSync(markerOf(file), '', { mode: 0o600 })
  const close = sqlite.close.bind(sqlite)
  sqlite.close = () => {
    // First: a crash between the two leaves a WAL file without a marker, which is harmless.
    if (sqlite.open) rmSync(markerOf(file), { force: true })
    return close()
  }
}

/**
 * Refuses to create a database in a data directory that has keys: its database
 * is missing, and a new one would look like the loss of everything. The first
 * start creates the database before the keys.
 *
 * @throws AppError with instructions for the operator
 */
export function refuseMissingDatabase(dataDir: string): void {
  if (existsSync(path.join(dataDir, 'service.db'))) return
  if (globSync('keys/*.key', { cwd: dataDir }).length === 0) return
  throw new AppError(
    'database_damaged',
    `There is no database in ${dataDir}, but it contains the keys of one. Restore service.db, restore a backup (service restore FILE), or start with --new to create an empty database.`,
  )
}

/**
 * Returns a function that throws if the paths of an open database no longer
 * name the opened files. This happens when the data directory is deleted, moved
 * or replaced. Further writes would go to the old files and be lost.
 */
export function watchFiles(file: string): () => void {
  const names = [file, walOf(file)]
  const opened = new Map(names.map((name) => [name, identityOf(name)]))
  return () => {
    for (const name of names) {
      const [before, now] = [opened.get(name), identityOf(name)]
      // SQLite creates the WAL file at the first transaction.
      if (before === null) opened.set(name, now)
      else if (before !== now) throw lost(name, now === null)
    }
  }
}

const lost = (name: string, isGone: boolean) =>
  new AppError(
    'database_damaged',
    `${name} was ${isGone ? 'deleted or moved' : 'replaced'} while the server used it. The server writes nothing more and stops. Restore the data directory or a backup, and start again.`,
  )

function identityOf(name: string): string | null {
  const found = statSync(name, { throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}` : null
}
