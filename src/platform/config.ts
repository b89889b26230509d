import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import envPaths from 'env-paths'
import * as v from 'valibot'
import { AppError } from './errors.ts'
import { packageRoot } from './package-root.ts'

export type Mode = 'local_trusted' | 'authenticated'

/** What a server runs with, settled. */
export interface Config {
  /** Absolute. */
  dataDir: string
  host: string
  port: number
  /** Whether the port was asked for: a busy one is then an error, else the next free one is taken. */
  portGiven: boolean
  mode: Mode
  /** Host names, besides loopback's, that requests may come for. */
  allowedHosts: string[]
  /** Whether requests come through a proxy that ends TLS: `X-Forwarded-*` counts, and cookies are for https only. */
  trustProxy: boolean
  /** Whether local trusted mode, too, asks each browser for the token of the start. */
  requireToken: boolean
  /** How many runs may live at once, over all agents. */
  maxRuns: number
  /** The largest JSON body, in bytes. */
  bodyLimit: number
  /** How much of a run's output is kept, in bytes. */
  logLimit: number
  /** So many runs of an agent for one issue, in a row and without a change by it, are a loop; 0 for none. */
  loopRuns: number
  /** At this many runs that woke each other without a person in between, the agents are paused as a loop; 0 for never. */
  maxWakeDepth: number
  /** How many runs may start for one issue within an hour, over all agents; 0 for any number. */
  issueRunsPerHour: number
  /** Whether each run gets a PID namespace of its own, where the system offers it without root. */
  pidNamespace: boolean
  /** How long a stop waits for runs to finish by themselves, in seconds. */
  drainSec: number
  /** The scheduled backups: whether there is one a day, and how many days and weeks they are kept. */
  backups: { daily: boolean; keepDaily: number; keepWeekly: number }
  /** Whether the server refuses every change and starts no agent: it shows a backup. */
  readOnly: boolean
  /** For tests: checks each response against its declared schema, and runs each write twice with a rollback between. */
  selfCheck: boolean
  /** The part of the server's own environment that runs are given. */
  environment: Record<string, string>
  version: string
  /** The folder of the built web page; without it the server has only pages that need no script. */
  webFolder?: string | undefined
  /** Names this start of a server and no other; its health tells it, so that nobody takes another server for it. */
  instance: string
}

/** Flags of `service start`, as given. */
export interface Flags {
  dataDir?: string
  host?: string
  port?: string
  mode?: string
  allowedHost?: string[]
  trustProxy?: boolean
  requireToken?: boolean
  readOnly?: boolean
}

export const DEFAULT_PORT = 3100

const MODES: readonly Mode[] = ['local_trusted', 'authenticated']

/** `<data dir>/config.json`: what may be set there. */
const ConfigFile = v.strictObject({
  host: v.optional(v.string()),
  port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535))),
  mode: v.optional(v.picklist(MODES)),
  allowedHosts: v.optional(v.array(v.string())),
  trustProxy: v.optional(v.boolean()),
  requireToken: v.optional(v.boolean()),
  maxRuns: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
  logLimit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(4_096))),
  loopRuns: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
  maxWakeDepth: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000))),
  issueRunsPerHour: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000))),
  pidNamespace: v.optional(v.boolean()),
  drainSec: v.optional(v.pipe(v.number(), v.minValue(0))),
  backups: v.optional(
    v.strictObject({
      daily: v.optional(v.boolean()),
      keepDaily: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
      keepWeekly: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000))),
    }),
  ),
})

export type Environment = Record<string, string | undefined>

/** The data directory: the flag, else `SERVICE_HOME`, else the platform's place for user data. */
export function dataDirOf(flags: Pick<Flags, 'dataDir'>, env: Environment): string {
  return path.resolve(flags.dataDir ?? (env.SERVICE_HOME || envPaths('service', { suffix: '' }).data))
}

/** Settles what to run with: flags beat the environment, which beats the config file, which beats the defaults. */
export function readConfig(flags: Flags, env: Environment): Config {
  const dataDir = dataDirOf(flags, env)
  const file = readConfigFile(path.join(dataDir, 'config.json'))
  const port = flags.port ?? (env.SERVICE_PORT || undefined)
  const mode = flags.mode ?? (env.SERVICE_MODE || undefined) ?? file.mode ?? 'local_trusted'
  const host = (flags.host ?? (env.SERVICE_HOST || undefined) ?? file.host ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1')
  if (!isMode(mode)) throw usage(`--mode is ${MODES.join(' or ')}, not ${mode}.`)
  if (mode === 'local_trusted' && !isLoopback(host)) {
    throw usage(
      `In local trusted mode everyone who can reach the server is the board, so it listens on loopback only, not on ${host}. Leave --host out.`,
    )
  }
  const allowedHosts = flags.allowedHost ?? listOf(env.SERVICE_ALLOWED_HOSTS) ?? file.allowedHosts ?? []
  if (!isLoopback(host) && allowedHosts.length === 0) {
    throw usage(`To listen on ${host}, name what the server is called there: --allowed-host <name>, once or more.`)
  }
  const trustProxy = flags.trustProxy ?? file.trustProxy ?? false
  if (trustProxy && mode === 'local_trusted') {
    throw usage('Behind a proxy everybody would be the board: --trust-proxy is for --mode authenticated.')
  }
  const requireToken = flags.requireToken ?? file.requireToken ?? false
  if (requireToken && mode !== 'local_trusted') {
    throw usage('--require-token is for local trusted mode: in authenticated mode everybody signs in.')
  }
  return {
    dataDir,
    host,
    port: port === undefined ? (file.port ?? DEFAULT_PORT) : portOf(port),
    portGiven: port !== undefined || file.port !== undefined,
    mode,
    allowedHosts,
    trustProxy,
    requireToken,
    maxRuns: numberOf('SERVICE_MAX_RUNS', env, 1) ?? file.maxRuns ?? availableParallelism(),
    bodyLimit: 2 * 1024 * 1024,
    logLimit: file.logLimit ?? 4 * 1024 * 1024,
    loopRuns: file.loopRuns ?? 5,
    maxWakeDepth: file.maxWakeDepth ?? 20,
    issueRunsPerHour: file.issueRunsPerHour ?? 100,
    pidNamespace: file.pidNamespace ?? true,
    drainSec: numberOf('SERVICE_DRAIN_SEC', env) ?? file.drainSec ?? 0,
    backups: {
      daily: file.backups?.daily ?? true,
      keepDaily: file.backups?.keepDaily ?? 7,
      keepWeekly: file.backups?.keepWeekly ?? 4,
    },
    readOnly: flags.readOnly ?? false,
    selfCheck: false,
    environment: passedOn(env),
    version: packageVersion(),
    instance: randomUUID(),
  }
}

/** What runs see of the server's environment: the user's own login and language live there, and nothing else of it. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|XDG_\w+|SSH_AUTH_SOCK|HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|SYSTEMROOT)$/

const passedOn = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && PASSED_ON.test(entry[0]),
    ),
  )

export const packageVersion = (): string =>
  JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8')).version

const isMode = (value: string): value is Mode => (MODES as readonly string[]).includes(value)

export const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

const usage = (message: string) => new AppError('validation_failed', message)

function portOf(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw usage(`A port is a number from 0 to 65535, not ${text}.`)
  return port
}

const listOf = (text: string | undefined) => (text ? text.split(/[ ,]+/).filter(Boolean) : undefined)

function numberOf(name: string, env: Environment, least = 0): number | undefined {
  const text = env[name]
  if (!text) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < least) throw usage(`${name} is a whole number from ${least}, not ${text}.`)
  return value
}

function readConfigFile(file: string): v.InferOutput<typeof ConfigFile> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw usage(`${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    return v.parse(ConfigFile, JSON.parse(text))
  } catch (error) {
    throw usage(`${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`)
  }
}
