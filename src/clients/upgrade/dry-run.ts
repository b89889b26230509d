import { existsSync, rmSync, statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import {
  type MigrationStep,
  migrate,
  migrationsAfter,
  refuseForeign,
  SCHEMA_VERSION,
} from '../../platform/database/migrate.ts'
import { MIGRATIONS } from '../../platform/database/migrations.ts'
import { configure } from '../../platform/database/open.ts'
import { openReadOnly } from '../../platform/database/reader-thread.ts'
import { copyDatabase, makeWorkFolder } from '../backup/create.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'

/** What a start of this version would do with a database. */
export interface DryRun {
  /** The size of the database, in bytes. */
  bytes: number
  fromSchema: number
  toSchema: number
  /** The steps with the time that each took on a copy; empty if the schema is current. */
  steps: MigrationStep[]
}

/**
 * Migrates a copy of the database, which a server may use meanwhile, and
 * deletes the copy. The copy is in the same folder as the backups, so that the
 * times are those of the real disk.
 *
 * @throws CliError if there is no database or no space
 * @throws WrongDatabase for a database of a newer version
 */
export async function rehearseMigration(dataDir: string, migrations = MIGRATIONS): Promise<DryRun> {
  const file = path.join(dataDir, 'service.db')
  if (!existsSync(file)) {
    throw new CliError(EXIT.notFound, `There is no database in ${dataDir}. Name another with --data-dir.`)
  }
  const sqlite = openReadOnly(file)
  const { size: bytes } = statSync(file)
  const fromSchema = sqlite.pragma('user_version', { simple: true }) as number
  const dryRun: DryRun = {
    bytes,
    fromSchema,
    toSchema: SCHEMA_VERSION - MIGRATIONS.length + migrations.length,
    steps: [],
  }
  try {
    refuseForeign(sqlite, file, migrations)
    if (migrationsAfter(fromSchema, migrations).length === 0) return dryRun
    requireSpace(dataDir, bytes)
    const work = makeWorkFolder(path.join(dataDir, 'backups'))
    try {
      const copy = path.join(work, 'service.db')
      await copyDatabase(sqlite, copy)
      migrateCopy(copy, path.join(work, 'backups'), dryRun.steps, migrations)
      return dryRun
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  } finally {
    sqlite.close()
  }
}

function migrateCopy(file: string, backupDir: string, steps: MigrationStep[], migrations = MIGRATIONS): void {
  const sqlite = new Database(file)
  try {
    configure(sqlite)
    migrate(sqlite, { file, backupDir, now: new Date(), onStep: (step) => steps.push(step) }, migrations)
  } finally {
    sqlite.close()
  }
}

/** The copy, its own copy before the migration, and a log that may contain every page. */
function requireSpace(dataDir: string, bytes: number): void {
  const needed = 3 * bytes
  const { bavail, bsize } = statfsSync(dataDir)
  if (bavail * bsize >= needed) return
  const mb = (n: number) => `${Math.ceil(n / 1024 / 1024)} MB`
  throw new CliError(
    EXIT.failure,
    `The dry run can need ${mb(needed)} in ${dataDir}, where ${mb(bavail * bsize)} are free. Nothing was changed.`,
  )
}
