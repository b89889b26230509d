import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Database as Sqlite } from 'better-sqlite3'
import { packageRoot } from '../package-root.ts'
import { MIGRATIONS } from './migrations.ts'

/** The version that `schema.sql` describes: each migration adds one. */
export const SCHEMA_VERSION = 1 + MIGRATIONS.length

/** Marks a file as ours (`PRAGMA application_id`): "SVCE". */
const APPLICATION_ID = 0x53564345

/** The file cannot be opened by this version; nothing in it was touched. */
export class WrongDatabase extends Error {}

/**
 * Makes a new file from schema.sql, or brings an older one up in one
 * transaction, after a copy of it was put aside. A newer file, or a file of
 * another program, is refused.
 */
export function migrate(sqlite: Sqlite, options: { file: string; backupDir: string; now: Date }): void {
  const version = sqlite.pragma('user_version', { simple: true }) as number
  if (version === SCHEMA_VERSION) return
  if (version > SCHEMA_VERSION) {
    throw new WrongDatabase(
      `${options.file} was written by a newer version of service (schema ${version}, this one knows ${SCHEMA_VERSION}). Upgrade service, or start on another data directory.`,
    )
  }
  if (version === 0) {
    const tables = sqlite.prepare('select count(*) from sqlite_master').pluck().get() as number
    if (tables > 0) throw new WrongDatabase(`${options.file} is a database of another program.`)
    createSchema(sqlite)
    return
  }
  backUp(sqlite, options, version)
  sqlite.transaction(() => {
    for (const step of MIGRATIONS.slice(version - 1)) sqlite.exec(step)
    sqlite.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}

function createSchema(sqlite: Sqlite): void {
  const schema = readFileSync(path.join(packageRoot(), 'schema.sql'), 'utf8')
  sqlite.transaction(() => {
    sqlite.exec(schema)
    sqlite.pragma(`application_id = ${APPLICATION_ID}`)
    sqlite.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}

function backUp(sqlite: Sqlite, options: { file: string; backupDir: string; now: Date }, version: number): void {
  mkdirSync(options.backupDir, { recursive: true })
  sqlite.pragma('wal_checkpoint(truncate)')
  const stamp = options.now.toISOString().replaceAll(/[:.]/g, '-')
  copyFileSync(options.file, path.join(options.backupDir, `service-schema-${version}-${stamp}.db`))
}
