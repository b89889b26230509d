import type { Command } from 'commander'
import { DEFAULT_PORT, dataDirOf, type Environment } from '../../platform/config.ts'
import { readServerInfo, readServerKeys, type ServerInfo } from '../../platform/database/server-info.ts'
import { type Client, createClient } from './client.ts'
import { CliError, EXIT } from './exit-codes.ts'
import { readHealth } from './health.ts'
import { readProfiles } from './profiles.ts'

/** The options of every command that sends requests to a server. */
export interface ConnectionOptions {
  url?: string
  token?: string
  dataDir?: string
  profile?: string
}

export const withConnection = (command: Command): Command =>
  command
    .option('--url <url>', 'the server (default: SERVICE_API_URL, or the server of the data directory)')
    .option('--profile <name>', 'a server of `service login` (default: SERVICE_PROFILE)')
    .option('--data-dir <folder>', 'the data directory of the server (default: SERVICE_HOME)')
    .option('--token <token>', 'your token or an agent key (default: SERVICE_API_KEY)')

/**
 * Creates a client of the server that a command names. The first of these
 * decides: `--url`, `--profile`, `--data-dir`, SERVICE_API_URL, SERVICE_PROFILE,
 * SERVICE_HOME, the profile in use, the default data directory, the default
 * port. If the server requires a token of its board, a user who can read its
 * data directory has one.
 *
 * @throws CliError if a profile or data directory is named and has no server
 */
export function connect(options: ConnectionOptions, env: Environment): Client {
  const token = options.token ?? (env.SERVICE_API_KEY || undefined)
  if (options.url !== undefined) return createClient({ url: parseServerUrl(options.url, '--url'), token })
  if (options.profile !== undefined) return toProfile(options, options.profile, env)
  const home = options.dataDir ?? (env.SERVICE_HOME || undefined)
  if (options.dataDir === undefined) {
    if (env.SERVICE_API_URL) return createClient({ url: parseServerUrl(env.SERVICE_API_URL, 'SERVICE_API_URL'), token })
    const profile = env.SERVICE_PROFILE || (home === undefined ? readProfiles().current : undefined)
    if (profile !== undefined) return toProfile(options, profile, env)
  }
  const dataDir = dataDirOf(options, env)
  const info = readServerInfo(dataDir)
  if (!info?.url) {
    // Another server must never receive a request that was meant for this data directory.
    if (home !== undefined) throw noServer(dataDir)
    return createClient({ url: `http://127.0.0.1:${DEFAULT_PORT}`, token })
  }
  return createClient({
    url: info.url,
    token: token ?? readServerKeys(dataDir).boardToken,
    check: () => checkInstance(info, dataDir),
  })
}

/**
 * Checks the URL of a server.
 *
 * @param name the option or variable that contains it
 */
export function parseServerUrl(text: string, name: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new CliError(EXIT.usage, `${name} must be a URL such as https://service.example.com, not ${text}.`)
}

function toProfile({ token }: ConnectionOptions, name: string, env: Environment): Client {
  const profile = readProfiles().profiles[name]
  if (!profile)
    throw new CliError(EXIT.usage, `There is no profile ${name}. Add it with: service login URL --name ${name}`)
  return createClient({ url: profile.url, token: token ?? profile.token ?? (env.SERVICE_API_KEY || undefined) })
}

const noServer = (dataDir: string) =>
  new CliError(
    EXIT.unreachable,
    `No server uses the data directory ${dataDir}. Start one with \`service start --data-dir ${JSON.stringify(dataDir)}\`, or name a server with --url.`,
  )

/** Verifies that the server at the stored URL is the one of the data directory. A killed server leaves its URL behind, and another server may use it. */
async function checkInstance({ url, instance }: ServerInfo, dataDir: string): Promise<void> {
  const health = await readHealth(createClient({ url: url! }))
  if (health.instance !== instance) throw noServer(dataDir)
}
