import Database, { type Database as Sqlite } from 'better-sqlite3'
import { type MigrateOptions, migrate, refuseForeign } from './migrate.ts'
import { recordOpen, refuseMissingWal } from './presence.ts'

/**
 * The settings of each connection. `synchronous` must be set explicitly,
 * although the pragma already returns FULL: better-sqlite3 is compiled so that
 * a WAL file uses NORMAL by default, and a power failure could then lose
 * committed writes.
 */
const PRAGMAS = [
  ['busy_timeout', '5000', 5000],
  ['journal_mode', 'wal', 'wal'],
  ['synchronous', 'full', 2],
  ['foreign_keys', 'on', 1],
  ['trusted_schema', 'off', 0],
  ['temp_store', 'memory', 2],
  ['journal_size_limit', String(64 * 1024 * 1024), 64 * 1024 * 1024],
  // 8 MB. With 2 MB, reading one of 10,000 issues takes four times as long, because its pages come from the system. With
  // 32 MB, a commit takes longer: after it, SQLite looks at each page in the cache if the write split a page of an index.
  ['cache_size', '-8000', -8_000],
  ['mmap_size', '0', 0],
  // 48 MB. A thread copies the log (checkpoint.ts). The main thread copies only what the thread left, for 20 to 45 ms. With
  // 4,000 pages, this was in every 50th commit of a busy server.
  ['wal_autocheckpoint', '12000', 12_000],
] as const

/**
 * Opens the database, migrates its schema and verifies its settings. The caller
 * holds the lock of the data directory.
 *
 * @throws WrongDatabase for a file of a newer version or of another program
 */
export function openDatabase(file: string, options: Omit<MigrateOptions, 'file'>): Sqlite {
  refuseMissingWal(file)
  const sqlite = new Database(file)
  try {
    refuseForeign(sqlite, file)
    configure(sqlite)
    migrate(sqlite, { ...options, file })
    recordOpen(sqlite, file)
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

/** Sets what every connection that writes is set to, and proves it. */
export function configure(sqlite: Sqlite): void {
  for (const [name, value, expected] of PRAGMAS) {
    sqlite.pragma(`${name} = ${value}`)
    const actual = sqlite.pragma(name, { simple: true })
    if (actual !== expected) {
      throw new Error(`SQLite refused ${name} = ${value}: it is ${String(actual)}.`)
    }
  }
}
