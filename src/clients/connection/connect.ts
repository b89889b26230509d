import type { Command } from 'commander'
import { DEFAULT_PORT, dataDirOf, type Environment } from '../../platform/config.ts'
import { readServerInfo, readServerKeys } from '../../platform/database/server-info.ts'
import { type Client, createClient } from './client.ts'

/** The options of every command that asks a server. */
export interface ConnectionOptions {
  url?: string
  token?: string
  dataDir?: string
}

export const withConnection = (command: Command): Command =>
  command
    .option('--url <url>', 'the server (default: SERVICE_API_URL, else the one that has the data directory)')
    .option('--token <token>', 'your token or an agent key (default: SERVICE_API_KEY)')
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')

/**
 * A client of the server to ask: the flag's, else the environment's, else that
 * of the data directory, else the one at the default port. Where the server
 * requires a token of its board, who can read its data directory has one.
 */
export function connect(options: ConnectionOptions, env: Environment): Client {
  const token = options.token ?? (env.SERVICE_API_KEY || undefined)
  const named = options.url ?? (options.dataDir === undefined ? env.SERVICE_API_URL || undefined : undefined)
  if (named !== undefined) return createClient({ url: named, token })
  const dataDir = dataDirOf(options, env)
  const info = readServerInfo(dataDir)
  const ownToken = info && readServerKeys(dataDir).boardToken
  return createClient({ url: info?.url ?? `http://127.0.0.1:${DEFAULT_PORT}`, token: token ?? ownToken })
}
