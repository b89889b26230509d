import {
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import path from 'node:path'
import type { Database as Sqlite } from 'better-sqlite3'
import { packageRoot } from '../package-root.ts'
import { MIGRATIONS, type Migration } from './migrations.ts'

/** Identifies our database files (`PRAGMA application_id`): "SVCE". */
export const APPLICATION_ID = 0x53564345

/** Thrown if this version cannot open the file. The file is not changed. */
export class WrongDatabase extends Error {}

/** Returns the schema version after a list of migrations: each adds one. `schema.sql` describes the last version. */
const versionAfter = (migrations: readonly Migration[]) => 1 + migrations.length

export const SCHEMA_VERSION = versionAfter(MIGRATIONS)

const versionOf = (sqlite: Sqlite) => sqlite.pragma('user_version', { simple: true }) as number

/** Refuses a file of a newer version or of another program. Only reads. */
export function refuseForeign(sqlite: Sqlite, file: string, migrations = MIGRATIONS): void {
  let tables: unknown
  try {
    tables = sqlite.prepare('select count(*) from sqlite_master').pluck().get()
  } catch (error) {
    if ((error as { code?: string }).code !== 'SQLITE_NOTADB') throw error
    throw new WrongDatabase(
      `${file} is not a SQLite database: its header is damaged, or another program wrote it. Restore a backup (service restore FILE), or start on another data directory.`,
    )
  }
  if (tables !== 0 && sqlite.pragma('application_id', { simple: true }) !== APPLICATION_ID)
    throw new WrongDatabase(`${file} is a file of another program. Choose another data directory with --data-dir.`)
  const version = versionOf(sqlite)
  if (version > versionAfter(migrations)) {
    throw new WrongDatabase(
      `${file} was written by a newer version of service (schema ${version}, this one knows ${versionAfter(migrations)}). Upgrade service, or choose another data directory with --data-dir.`,
    )
  }
}

export interface MigrateOptions {
  file: string
  /** The folder for the copy of an older file before its migration. */
  backupDir: string
  now: Date
  /** Receives each step once it is done, before the commit. */
  onStep?: (step: MigrationStep) => void
}

/** A step of a migration, with its time in milliseconds. */
export interface MigrationStep {
  summary: string
  ms: number
}

/** Lists the migrations that a file of a version still needs. */
export const migrationsAfter = (version: number, migrations = MIGRATIONS): readonly Migration[] =>
  migrations.slice(version - 1)

/** Creates a new file from schema.sql, or migrates an older one in one transaction after copying it. */
export function migrate(sqlite: Sqlite, options: MigrateOptions, migrations = MIGRATIONS): void {
  const version = versionOf(sqlite)
  const target = versionAfter(migrations)
  if (version === target) return
  if (version === 0) {
    createSchema(sqlite, target)
    return
  }
  const timed = (summary: string, step: () => void) => {
    const begun = performance.now()
    step()
    options.onStep?.({ summary, ms: performance.now() - begun })
  }
  timed('Copy the database to the backups.', () => backUp(sqlite, options, version))
  // A migration that recreates a table drops the old one, which must not delete the rows that refer to it.
  sqlite.pragma('foreign_keys = off')
  sqlite.transaction(() => {
    for (const { summary, sql } of migrationsAfter(version, migrations)) timed(summary, () => sqlite.exec(sql))
    timed('Check every reference.', () => requireReferences(sqlite, target))
    sqlite.pragma(`user_version = ${target}`)
  })()
  sqlite.pragma('foreign_keys = on')
}

function requireReferences(sqlite: Sqlite, target: number): void {
  const broken = sqlite.pragma('foreign_key_check') as { table: string }[]
  if (broken.length > 0) throw new Error(`The migration to schema ${target} broke references of ${broken[0]!.table}.`)
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
    throw new Error(
      `${options.file} is in use, so it cannot be copied before its migration. Close the programs that use it.`,
    )
  requireSpace(options)
  const stamp = options.now.toISOString().replaceAll(/[:.]/g, '-')
  const copy = path.join(options.backupDir, `service-schema-${version}-${stamp}.db`)
  // Copied under another name: a file with the name of a copy is always whole.
  for (const name of readdirSync(options.backupDir)) {
    if (name.endsWith(PARTIAL)) rmSync(path.join(options.backupDir, name))
  }
  copyFileSync(options.file, `${copy}${PARTIAL}`)
  sync(`${copy}${PARTIAL}`)
  renameSync(`${copy}${PARTIAL}`, copy)
  sync(options.backupDir)
}

const PARTIAL = '.partial'

function sync(file: string): void {
  const fd = openSync(file, 'r')
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
