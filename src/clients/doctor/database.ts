import { statSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { refuseForeign, SCHEMA_VERSION, WrongDatabase } from '../../platform/database/migrate.ts'
import type { Check, Finding } from './check.ts'
import { sizeText } from './disk-use.ts'

/** Checks that the database can be opened, and its version. It does not check the content, which can take long. */
export const databaseCheck: Check = {
  id: 'database',
  title: 'Database',
  run({ dataDir }) {
    const file = path.join(dataDir, 'service.db')
    const found = statSync(file, { throwIfNoEntry: false })
    if (!found)
      return [{ status: 'ok', message: 'There is no database yet. The first start creates it.', details: { file } }]
    return [inspect(file, found.size)]
  },
}

function inspect(file: string, bytes: number): Finding {
  const sqlite = new Database(file, { readonly: true })
  try {
    refuseForeign(sqlite, file)
    const pragma = (name: string) => sqlite.pragma(name, { simple: true })
    const schemaVersion = pragma('user_version')
    const journalMode = pragma('journal_mode')
    const sqliteVersion = sqlite.prepare('select sqlite_version()').pluck().get()
    const details = { file, bytes, schemaVersion, journalMode, sqliteVersion }
    if (journalMode !== 'wal') {
      const hint =
        'The next start sets it to wal. If that has no effect, the file system does not support shared memory: use a local disk.'
      return { status: 'warning', message: `The journal mode is ${journalMode}, not wal.`, hint, details }
    }
    const size = sizeText(bytes)
    const version =
      schemaVersion === SCHEMA_VERSION ? '' : `, which the next start migrates to version ${SCHEMA_VERSION}`
    const message = `version ${schemaVersion}${version}, ${size}, ${journalMode}, SQLite ${sqliteVersion}`
    return { status: 'ok', message, details }
  } catch (error) {
    if (error instanceof WrongDatabase) return { status: 'broken', message: error.message, details: { file } }
    const message = `${file} cannot be read: ${(error as Error).message}`
    return { status: 'broken', message, hint: 'Restore it from a backup.', details: { file } }
  } finally {
    sqlite.close()
  }
}
