import { existsSync } from 'node:fs'
import path from 'node:path'
import { createDb, type Db } from '../../platform/database/db.ts'
import { openReadOnly } from '../../platform/database/reader-thread.ts'

/**
 * Reads the database of a data directory. Returns undefined if there is none,
 * or if it cannot be read: the check of the database reports that problem.
 */
export function readDatabase<T>(dataDir: string, read: (db: Db) => T): T | undefined {
  const file = path.join(dataDir, 'service.db')
  if (!existsSync(file)) return undefined
  try {
    const sqlite = openReadOnly(file)
    try {
      return read(createDb(sqlite))
    } finally {
      sqlite.close()
    }
  } catch {
    return undefined
  }
}
