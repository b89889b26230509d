import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Who serves a data directory; informational, so a stale one can block nothing. */
export interface ServerInfo {
  pid: number
  /** Null until it listens. */
  url: string | null
  /** What its health tells as `instance`: who finds both the same knows that the pid is that server's. */
  instance: string | null
}

export const serverInfoFile = (dataDir: string) => path.join(dataDir, 'server.json')

/** Reads who last said that it serves a data directory; it may be dead. */
export function readServerInfo(dataDir: string): ServerInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(serverInfoFile(dataDir), 'utf8')) as Partial<ServerInfo>
    if (typeof info.pid !== 'number') return undefined
    return { pid: info.pid, url: info.url ?? null, instance: info.instance ?? null }
  } catch {
    return undefined
  }
}
