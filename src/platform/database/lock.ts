import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { readServerInfo, type ServerInfo, type ServerKeys, serverInfoFile, serverKeysFile } from './server-info.ts'

/** Thrown if another server uses the data directory. */
export class DataDirTaken extends Error {
  readonly holder: ServerInfo | undefined

  constructor(dataDir: string, holder: ServerInfo | undefined) {
    const who = holder ? ` (pid ${holder.pid}${holder.url ? `, ${holder.url}` : ''})` : ''
    super(`Another server${who} uses the data directory ${dataDir}. Stop it, or start with another --data-dir.`)
    this.holder = holder
  }
}

export interface DataDirLock {
  /** Writes which server uses the data directory, for other processes. */
  announce(info: ServerInfo, keys?: ServerKeys): void
  release(): void
}

/**
 * Locks the data directory for this process, with an exclusive transaction on a
 * small file. The operating system releases the lock when the process ends, so
 * a stale pid file cannot block a start.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const sqlite = lockFile(dataDir)
  const file = serverInfoFile(dataDir)
  const keysFile = serverKeysFile(dataDir)
  const announce = (info: ServerInfo, keys: ServerKeys = {}) => {
    rmSync(keysFile, { force: true })
    if (Object.values(keys).some((key) => key !== undefined)) {
      mkdirSync(path.dirname(keysFile), { recursive: true, mode: 0o700 })
      replaceFile(keysFile, keys)
    }
    replaceFile(file, info)
  }
  announce({ pid: process.pid, url: null, instance: null })
  return {
    announce,
    release() {
      rmSync(file, { force: true })
      rmSync(keysFile, { force: true })
      sqlite.close()
    },
  }
}

/** @returns the database of the lock file, in an exclusive transaction */
function lockFile(dataDir: string, isRepaired = false): Database.Database {
  const file = path.join(dataDir, 'server.lock')
  const sqlite = new Database(file, { timeout: 0 })
  try {
    sqlite.exec('begin exclusive')
    return sqlite
  } catch (error) {
    sqlite.close()
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code.startsWith('SQLITE_BUSY')) throw new DataDirTaken(dataDir, readServerInfo(dataDir))
    if (isRepaired || !/^SQLITE_(NOTADB|CORRUPT)/.test(code)) throw error
    // The file contains no data, and no process holds the lock. It is truncated, not removed: two starts must lock the same file.
    truncateSync(file)
    return lockFile(dataDir, true)
  }
}

/**
 * Writes a file that only this user can read. Writes a temporary file and
 * renames it, so that no reader sees a partial file.
 */
function replaceFile(file: string, content: object): void {
  rmSync(`${file}.tmp`, { force: true })
  writeFileSync(`${file}.tmp`, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(`${file}.tmp`, file)
}
