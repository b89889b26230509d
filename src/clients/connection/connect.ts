import type { Command } from 'commander'
import { DEFAULT_PORT, dataDirOf, type Environment } from '../../platform/config.ts'
import { readServerInfo, readServerKeys, type ServerInfo } from '../../platform/database/server-info.ts'
import { type Client, createClient } from './client.ts'
import { CliError, EXIT } from './exit-codes.ts'

/** The options of every command that sends requests to a server. */
export interface ConnectionOptions {
  url?: string
  token?: string
  dataDir?: string
}

export const withConnection = (command: Command): Command =>
  command
    .option('--url <url>', 'the server (default: SERVICE_API_URL, else the server of the data directory)')
    .option('--token <token>', 'your token or an agent key (default: SERVICE_API_KEY)')
    .option('--data-dir <folder>', 'the data directory of the server (default: SERVICE_HOME)')

/**
 * Creates a client of the server that a command names. The first of these
 * decides: `--url`, `--data-dir`, SERVICE_API_URL, SERVICE_HOME, the default
 * data directory, the default port. If the server requires a token of its
 * board, a user who can read its data directory has one.
 *
 * @throws CliError if a data directory is named and no server uses it
 */
export function connect(options: ConnectionOptions, env: Environment): Client {
  const token = options.token ?? (env.SERVICE_API_KEY || undefined)
  const url = options.url ?? (options.dataDir === undefined ? env.SERVICE_API_URL || undefined : undefined)
  if (url !== undefined) return createClient({ url, token })
  const dataDir = dataDirOf(options, env)
  const info = readServerInfo(dataDir)
  if (!info?.url) {
    // Another server must never receive a request that was meant for this data directory.
    if (options.dataDir !== undefined || env.SERVICE_HOME) throw noServer(dataDir)
    return createClient({ url: `http://127.0.0.1:${DEFAULT_PORT}`, token })
  }
  return createClient({
    url: info.url,
    token: token ?? readServerKeys(dataDir).boardToken,
    check: () => checkInstance(info, dataDir),
  })
}

const noServer = (dataDir: string) =>
  new CliError(
    EXIT.unreachable,
    `No server uses the data directory ${dataDir}. Start one with \`service start --data-dir\`, or name a server with --url.`,
  )

/** A killed server leaves its URL behind, and another server may listen there by now. */
async function checkInstance({ url, instance }: ServerInfo, dataDir: string): Promise<void> {
  const health = await createClient({ url: url! }).request('GET /api/health')
  if (health.instance !== instance) throw noServer(dataDir)
}
