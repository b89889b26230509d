import type { Command } from 'commander'
import { DEFAULT_PORT, dataDirOf, type Environment } from '../config.ts'
import { readServerInfo } from '../database/server-info.ts'
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
    .option('--token <token>', 'an agent key (default: SERVICE_API_KEY)')
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')

/** The server to ask: the flag, else the environment, else the one of the data directory, else the default port. */
export function urlOf(options: ConnectionOptions, env: Environment): string {
  const named = options.url ?? (options.dataDir === undefined ? env.SERVICE_API_URL || undefined : undefined)
  return named ?? readServerInfo(dataDirOf(options, env))?.url ?? `http://127.0.0.1:${DEFAULT_PORT}`
}

export const connect = (options: ConnectionOptions, env: Environment): Client =>
  createClient({ url: urlOf(options, env), token: options.token ?? (env.SERVICE_API_KEY || undefined) })
