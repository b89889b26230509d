import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Who serves a data directory; informational, so a stale one can block nothing. Only the server's user can read it. */
export interface ServerInfo {
  pid: number
  /** Null until it listens. */
  url: string | null
  /** What its health tells as `instance`: who finds both the same knows that the pid is that server's. */
  instance: string | null
}

/** Keys that the command line uses instead of signing in. The server makes others at each start. */
export interface ServerKeys {
  /** With `--require-token`: the bearer token of the board. */
  boardToken?: string | undefined
  /** In authenticated mode: creates password-reset links, and nothing else. */
  resetKey?: string | undefined
}

/** Not in server.json, which names no secret: a program that shows a file by mistake must not show a key. */
export const serverKeysFile = (dataDir: string) => path.join(dataDir, 'keys', 'one-time.json')

/** Reads the keys of the server that serves a data directory; empty if there is none or it needs none. */
export function readServerKeys(dataDir: string): ServerKeys {
  try {
    const { boardToken, resetKey } = JSON.parse(readFileSync(serverKeysFile(dataDir), 'utf8')) as ServerKeys
    return { ...(boardToken && { boardToken }), ...(resetKey && { resetKey }) }
  } catch {
    return {}
  }
}

export const serverInfoFile = (dataDir: string) => path.join(dataDir, 'server.json')

/** Reads who last said that it serves a data directory; it may be dead. */
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
