import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, readFileSync, statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Database as Sqlite } from 'better-sqlite3'
import { packageRoot } from '../package-root.ts'
import { MIGRATIONS } from './migrations.ts'

/** Identifies our database files (`PRAGMA application_id`): "SVCE". */
const APPLICATION_ID = 0x53564345

/** Thrown if this version cannot open the file. The file is not changed. */
export class WrongDatabase extends Error {}

/** Returns the schema version after a list of migrations: each adds one. `schema.sql` describes the last version. */
const versionAfter = (migrations: readonly string[]) => 1 + migrations.length

export const SCHEMA_VERSION = versionAfter(MIGRATIONS)

const versionOf = (sqlite: Sqlite) => sqlite.pragma('user_version', { simple: true }) as number

/** Refuses a file of a newer version or of another program. Only reads. */
export function refuseForeign(sqlite: Sqlite, file: string, migrations = MIGRATIONS): void {
  const foreign = () => new WrongDatabase(`${file} is a file of another program. Start on another data directory.`)
  let tables: unknown
  try {
    tables = sqlite.prepare('select count(*) from sqlite_master').pluck().get()
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_NOTADB') throw foreign()
    throw error
  }
  if (tables !== 0 && sqlite.pragma('application_id', { simple: true }) !== APPLICATION_ID) throw foreign()
  const version = versionOf(sqlite)
  if (version > versionAfter(migrations)) {
    throw new WrongDatabase(
      `${file} was written by a newer version of service (schema ${version}, this one knows ${versionAfter(migrations)}). Upgrade service, or start on another data directory.`,
    )
  }
}

export interface MigrateOptions {
  file: string
  /** The folder for the copy of an older file before its migration. */
  backupDir: string
  now: Date
}

/** Creates a new file from schema.sql, or migrates an older one in one transaction after copying it. */
export function migrate(sqlite: Sqlite, options: MigrateOptions, migrations = MIGRATIONS): void {
  const version = versionOf(sqlite)
  const target = versionAfter(migrations)
  if (version === target) return
  if (version === 0) {
    createSchema(sqlite, target)
    return
  }
  backUp(sqlite, options, version)
  // A migration that recreates a table drops the old one, which must not delete the rows that refer to it.
  sqlite.pragma('foreign_keys = off')
  sqlite.transaction(() => {
    for (const step of migrations.slice(version - 1)) sqlite.exec(step)
    const broken = sqlite.pragma('foreign_key_check') as { table: string }[]
    if (broken.length > 0) throw new Error(`The migration to schema ${target} broke references of ${broken[0]!.table}.`)
    sqlite.pragma(`user_version = ${target}`)
  })()
  sqlite.pragma('foreign_keys = on')
}

function createSchema(sqlite: Sqlite, version: number): void {
  const schema = readFileSync(path.join(packageRoot(), 'schema.sql'), 'utf8')
  sqlite.transaction(() => {
    sqlite.exec(schema)
    sqlite.pragma(`application_id = ${APPLICATION_ID}`)
    sqlite.pragma(`user_version = ${version}`)
  })()
}

function backUp(sqlite: Sqlite, options: MigrateOptions, version: number): void {
  mkdirSync(options.backupDir, { recursive: true, mode: 0o700 })
  const [{ busy } = { busy: 1 }] = sqlite.pragma('wal_checkpoint(truncate)') as { busy: number }[]
  if (busy)
    throw new Error(`${options.file} is in use, so it cannot be copied before its migration. Close what uses it.`)
  requireSpace(options)
  const stamp = options.now.toISOString().replaceAll(/[:.]/g, '-')
  const copy = path.join(options.backupDir, `service-schema-${version}-${stamp}.db`)
  copyFileSync(options.file, copy)
  const fd = openSync(copy, 'r')
  fsyncSync(fd)
  closeSync(fd)
}

/** Requires free space for the copy of the file, and for a migration that writes every page to the log. */
function requireSpace({ file, backupDir }: MigrateOptions): void {
  const needed = 2 * statSync(file).size
  const { bavail, bsize } = statfsSync(backupDir)
  if (bavail * bsize >= needed) return
  const mb = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`
  throw new Error(
    `The upgrade of ${file} needs ${mb(needed)} in ${backupDir}, where ${mb(bavail * bsize)} are free. Nothing was changed; free some space and start again.`,
  )
}
