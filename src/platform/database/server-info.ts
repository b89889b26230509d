import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Who serves a data directory; informational, so a stale one can block nothing. Only the server's user can read it. */
export interface ServerInfo {
  pid: number
  /** Null until it listens. */
  url: string | null
  /** What its health tells as `instance`: who finds both the same knows that the pid is that server's. */
  instance: string | null
  /** With `--require-token`: makes who can read this file the board, until the server ends. */
  boardToken?: string | undefined
  /** In authenticated mode: lets who can read this file make links for forgotten passwords, and nothing else. */
  resetKey?: string | undefined
}

export const serverInfoFile = (dataDir: string) => path.join(dataDir, 'server.json')

/** Reads who last said that it serves a data directory; it may be dead. */
export function readServerInfo(dataDir: string): ServerInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(serverInfoFile(dataDir), 'utf8')) as Partial<ServerInfo>
    if (typeof info.pid !== 'number') return undefined
    const { pid, url = null, instance = null, boardToken, resetKey } = info
    return { pid, url, instance, ...(boardToken && { boardToken }), ...(resetKey && { resetKey }) }
  } catch {
    return undefined
  }
}
