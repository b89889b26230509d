import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Database } from 'better-sqlite3'
import { dataDirOf } from '../../platform/config.ts'
import { createDb } from '../../platform/database/db.ts'
import { type DataDirLock, DataDirTaken, lockDataDir } from '../../platform/database/lock.ts'
import { openDatabase } from '../../platform/database/open.ts'
import { openReadOnly } from '../../platform/database/reader-thread.ts'
import { findKeyFile, KEY_BYTES } from '../../platform/key-file.ts'
import { createVault } from '../../platform/vault.ts'
import { type Client, errorOf } from '../connection/client.ts'
import { type ConnectionOptions, connect } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { type CheckRequest, type CheckResult, deepCheck } from './database-check.ts'

/** Opens nothing. */
const NO_KEY = new Uint8Array(KEY_BYTES)

/**
 * Checks a data directory directly, so that it works after a crash and beside a
 * server that does not respond: while a server uses the directory, the database
 * is opened for reading only. A server that is named by its URL checks itself.
 */
export async function checkData(options: ConnectionOptions, want: CheckRequest): Promise<CheckResult> {
  const query = new URLSearchParams({
    ...(want.only && { only: want.only.join() }),
    ...(want.noted && { noted: want.noted }),
  })
  if (options.url !== undefined || (options.dataDir === undefined && process.env.SERVICE_API_URL))
    return requestCheck(connect(options, process.env), query)
  const dataDir = dataDirOf(options, process.env)
  const file = path.join(dataDir, 'service.db')
  if (!existsSync(file))
    throw new CliError(EXIT.notFound, `There is no database in ${dataDir}. Name another with --data-dir.`)
  const check = (sqlite: Database) => {
    try {
      return deepCheck({ db: createDb(sqlite), vault: createVault(findKeyFile({ dataDir }, 'secret') ?? NO_KEY) }, want)
    } finally {
      sqlite.close()
    }
  }
  let lock: DataDirLock
  try {
    lock = lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof DataDirTaken) return check(openReadOnly(file))
    throw error
  }
  try {
    return check(openDatabase(file, { backupDir: path.join(dataDir, 'backups'), now: new Date() }))
  } finally {
    lock.release()
  }
}

async function requestCheck(client: Client, query: URLSearchParams): Promise<CheckResult> {
  // The endpoint is not in the table that the typed client knows: it belongs to this layer.
  const response = await client.send({ method: 'GET', path: `/api/instance/check?${query}` })
  if (response.status >= 400) throw errorOf(response, client)
  return response.body as CheckResult
}
