import { readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * The server that uses a data directory. The file is informational: a stale
 * file does not block a start. Only the user of the server can read it.
 */
export interface ServerInfo {
  pid: number
  /** Null until the server listens. */
  url: string | null
  /** The `instance` that the health endpoint returns. If both are equal, the pid is that server's. */
  instance: string | null
}

/** Keys that the command line uses instead of signing in. The server creates new keys at each start. */
export interface ServerKeys {
  /** With `--require-token`: the bearer token of the board. */
  boardToken?: string | undefined
  /** In authenticated mode: a key that can only create password-reset links. */
  resetKey?: string | undefined
}

/** The keys are not in server.json, so that a program that displays that file cannot reveal them. */
export const serverKeysFile = (dataDir: string) => path.join(dataDir, 'keys', 'one-time.json')

/** Reads the keys of the server that uses a data directory. Empty if no server runs or it needs no keys. */
export function readServerKeys(dataDir: string): ServerKeys {
  try {
    const { boardToken, resetKey } = JSON.parse(readFileSync(serverKeysFile(dataDir), 'utf8')) as ServerKeys
    return { ...(boardToken && { boardToken }), ...(resetKey && { resetKey }) }
  } catch {
    return {}
  }
}

export const serverInfoFile = (dataDir: string) => path.join(dataDir, 'server.json')

/** Reads the last server that used a data directory. It may have ended. */
export function readServerInfo(dataDir: string): ServerInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(serverInfoFile(dataDir), 'utf8')) as Partial<ServerInfo>
    if (typeof info.pid !== 'number') return undefined
    const { pid, url = null, instance = null } = info
    return { pid, url, instance }
  } catch {
    return undefined
  }
}
