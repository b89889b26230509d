import Database, { type Database as Sqlite } from 'better-sqlite3'
import { migrate, refuseForeign } from './migrate.ts'

/**
 * What each connection is set to. `synchronous` must be set, although the
 * pragma already answers FULL: better-sqlite3 is compiled so that a WAL file
 * runs at NORMAL until it is, and a power cut could then lose answered writes.
 */
const PRAGMAS = [
  ['busy_timeout', '5000', 5000],
  ['journal_mode', 'wal', 'wal'],
  ['synchronous', 'full', 2],
  ['foreign_keys', 'on', 1],
  ['trusted_schema', 'off', 0],
  ['temp_store', 'memory', 2],
  ['journal_size_limit', String(64 * 1024 * 1024), 64 * 1024 * 1024],
  // 32 MB: the default of 2 MB makes a read of one of 10,000 issues go to the system for its pages, four times as slow.
  ['cache_size', '-32000', -32_000],
  ['mmap_size', '0', 0],
] as const

/**
 * Opens the database, unless it is not this program's to touch; brings its schema up to date and proves its settings.
 * The caller holds the data directory's lock.
 *
 * @throws WrongDatabase for a file of a newer version or of another program
 */
export function openDatabase(file: string, options: { backupDir: string; now: Date }): Sqlite {
  const sqlite = new Database(file)
  try {
    refuseForeign(sqlite, file)
    for (const [name, value, expected] of PRAGMAS) {
      sqlite.pragma(`${name} = ${value}`)
      const actual = sqlite.pragma(name, { simple: true })
      if (actual !== expected) {
        throw new Error(`SQLite refused ${name} = ${value}: it is ${String(actual)}.`)
      }
    }
    migrate(sqlite, { ...options, file })
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}
