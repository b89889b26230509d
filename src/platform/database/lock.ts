import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { readServerInfo, type ServerInfo, type ServerKeys, serverInfoFile, serverKeysFile } from './server-info.ts'

/** Another server has this data directory. */
export class DataDirTaken extends Error {
  readonly holder: ServerInfo | undefined

  constructor(dataDir: string, holder: ServerInfo | undefined) {
    const who = holder ? ` (pid ${holder.pid}${holder.url ? `, ${holder.url}` : ''})` : ''
    super(`Another server${who} has the data directory ${dataDir}. Stop it, or start with another --data-dir.`)
    this.holder = holder
  }
}

export interface DataDirLock {
  /** Tells others who serves here. */
  announce(info: ServerInfo, keys?: ServerKeys): void
  release(): void
}

/**
 * Takes the data directory for this process: an exclusive transaction on a
 * small file of its own, which the operating system ends with the process,
 * however that ends. So no stale pid file can block a start.
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

/** @returns the lock file's database, with an exclusive transaction */
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
    // The file holds no data and nobody holds the lock. It is emptied, not removed: two starts must lock the same file.
    truncateSync(file)
    return lockFile(dataDir, true)
  }
}

/** Writes a file for this user only. Written under another name first: readers see all of it or nothing. */
function replaceFile(file: string, content: object): void {
  rmSync(`${file}.tmp`, { force: true })
  writeFileSync(`${file}.tmp`, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(`${file}.tmp`, file)
}
