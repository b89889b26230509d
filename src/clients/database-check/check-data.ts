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

/** Stands for a missing key. It decrypts no secret. */
const NO_KEY = new Uint8Array(KEY_BYTES)

/**
 * Checks a data directory directly, which also works after a crash and beside a
 * server that does not respond. While a server uses the directory, it opens the
 * database read-only. If the options name a server by its URL, it requests the
 * check from that server.
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
  // The typed client does not know this endpoint, because the endpoint belongs to the clients.
  const response = await client.send({ method: 'GET', path: `/api/instance/check?${query}` })
  if (response.status >= 400) throw errorOf(response, client)
  return response.body as CheckResult
}
