import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import envPaths from 'env-paths'
import * as v from 'valibot'
import { AppError } from './errors.ts'
import { LOG_LEVELS, type LogLevel } from './log-entry.ts'
import { packageRoot } from './package-root.ts'

export type Mode = 'local_trusted' | 'authenticated'

/** The configuration of a server, with all defaults applied. */
export interface Config {
  /** An absolute path. */
  dataDir: string
  host: string
  port: number
  /** Whether the user chose the port. If it is busy, the start fails; otherwise the next free port is used. */
  portGiven: boolean
  mode: Mode
  /** Whether the user chose the mode. Otherwise a data directory with accounts of people does not start in local trusted mode. */
  modeGiven: boolean
  /** The host names besides loopback that requests may use. */
  allowedHosts: string[]
  /** Whether a proxy terminates TLS: `X-Forwarded-*` headers count, and cookies are for https only. */
  trustProxy: boolean
  /** Whether local trusted mode requires the token of the start from each browser. */
  requireToken: boolean
  /** The maximum number of live runs, over all agents. */
  maxRuns: number
  /** The maximum size of a JSON body, in bytes. */
  bodyLimit: number
  /** The server's log: its least level, its format on standard error, and the number of rotated files. */
  log: { level: LogLevel; format: 'text' | 'json'; files: number }
  /** The maximum size of the stored output of a run, in bytes. */
  logLimit: number
  /**
   * After this number of consecutive runs on one issue without a change, the
   * server pauses the agent as a loop; 0 for no limit.
   */
  loopRuns: number
  /**
   * At this many runs that woke each other without a person in between, the
   * agents are paused as a loop; 0 for no limit.
   */
  maxWakeDepth: number
  /** The maximum number of runs on one issue within an hour, over all agents; 0 for no limit. */
  issueRunsPerHour: number
  /** Whether runs get the MCP server of this service, if neither the agent nor its company configures it. */
  runMcp: boolean
  /** The default isolation of runs, if the agent does not configure it: none, or bubblewrap (Linux). */
  sandbox: 'off' | 'bubblewrap'
  /** Whether each run gets its own PID namespace, if the system allows that without root. */
  pidNamespace: boolean
  /** The maximum time that a stop waits for runs to finish, in seconds. */
  drainSec: number
  /** The collector of OpenTelemetry that receives traces by OTLP over HTTP; null if tracing is off. */
  otlpEndpoint: string | null
  /** The hosts of private networks that webhooks may reach, each with its port if that is not the default one. */
  webhookHosts: string[]
  /** The scheduled backups: whether the server creates one each day, and the number of stored daily and weekly backups. */
  backups: { daily: boolean; keepDaily: number; keepWeekly: number }
  retention: Retention
  /** Whether the server refuses every change and starts no agent, as when it shows a backup. */
  readOnly: boolean
  /** Whether to create a new database if the data directory has keys but no database. */
  isNew: boolean
  /** For tests: checks each response against its declared schema, and runs each write twice with a rollback between. */
  selfCheck: boolean
  /** The part of the server's environment that runs receive. */
  environment: Record<string, string>
  version: string
  /** The folder of the built web page. Without it, the server has only the pages without scripts. */
  webFolder?: string | undefined
  /** Identifies this start of the server. The health endpoint returns it, so that a client can tell servers apart. */
  instance: string
}

/** The retention of data that is no longer in use. 0 means forever. Cost events and activity are never deleted. */
export interface Retention {
  /** The log of a run, in days after the end of the run. */
  runLogDays: number
  /** The maximum size of the logs of ended runs together, in bytes. The oldest are deleted first. */
  runLogBytes: number
  /** A run without references, in days after its end. */
  runDays: number
  /** A wake that was claimed or dropped, in days. */
  wakeDays: number
  /** An upload without references, in days. */
  uploadDays: number
  /** The git worktree of an issue, in days after the issue was closed. */
  worktreeDays: number
}

const DEFAULT_RETENTION: Retention = {
  runLogDays: 30,
  runLogBytes: 5 * 1024 ** 3,
  runDays: 0,
  wakeDays: 30,
  uploadDays: 30,
  worktreeDays: 30,
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
  sandbox?: string
  logLevel?: string
  readOnly?: boolean
  new?: boolean
}

export const DEFAULT_PORT = 3100

const SANDBOXES = ['off', 'bubblewrap'] as const

const LOG_FORMATS = ['text', 'json'] as const

const MODES: readonly Mode[] = ['local_trusted', 'authenticated']

const days = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(36_500)))

/** The settings of `<data dir>/config.json`. */
const ConfigFile = v.strictObject({
  host: v.optional(v.string()),
  port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535))),
  mode: v.optional(v.picklist(MODES)),
  allowedHosts: v.optional(v.array(v.string())),
  trustProxy: v.optional(v.boolean()),
  requireToken: v.optional(v.boolean()),
  maxRuns: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
  log: v.optional(
    v.strictObject({
      level: v.optional(v.picklist(LOG_LEVELS)),
      format: v.optional(v.picklist(LOG_FORMATS)),
      files: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
    }),
  ),
  logLimit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(4_096))),
  loopRuns: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
  maxWakeDepth: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000))),
  issueRunsPerHour: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000))),
  runMcp: v.optional(v.boolean()),
  sandbox: v.optional(v.picklist(SANDBOXES)),
  pidNamespace: v.optional(v.boolean()),
  drainSec: v.optional(v.pipe(v.number(), v.minValue(0))),
  otlpEndpoint: v.optional(v.string()),
  webhookHosts: v.optional(v.array(v.string())),
  backups: v.optional(
    v.strictObject({
      daily: v.optional(v.boolean()),
      keepDaily: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
      keepWeekly: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000))),
    }),
  ),
  retention: v.optional(
    v.strictObject({
      runLogDays: days,
      runLogBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
      runDays: days,
      wakeDays: days,
      uploadDays: days,
      worktreeDays: days,
    }),
  ),
})

export type Environment = Record<string, string | undefined>

/** Returns the data directory: the flag, otherwise `SERVICE_HOME`, otherwise the platform's folder for user data. */
export function dataDirOf(flags: Pick<Flags, 'dataDir'>, env: Environment): string {
  return path.resolve(flags.dataDir ?? (env.SERVICE_HOME || envPaths('service', { suffix: '' }).data))
}

/**
 * Returns the configuration. Flags override the environment, which overrides
 * the config file, which overrides the defaults.
 */
export function readConfig(flags: Flags, env: Environment): Config {
  const dataDir = dataDirOf(flags, env)
  const file = readConfigFile(path.join(dataDir, 'config.json'))
  const port = flags.port ?? (env.SERVICE_PORT || undefined)
  const chosenMode = flags.mode ?? (env.SERVICE_MODE || undefined) ?? file.mode
  const mode = chosenMode ?? 'local_trusted'
  const host = (flags.host ?? (env.SERVICE_HOST || undefined) ?? file.host ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1')
  if (!isOneOf(MODES, mode)) throw usage(`--mode must be ${MODES.join(' or ')}, not ${mode}.`)
  if (mode === 'local_trusted' && !isLoopback(host)) {
    throw usage(
      `In local trusted mode everyone who can reach the server has the rights of the board, so it listens only on loopback, not on ${host}. Omit --host.`,
    )
  }
  const allowedHosts = flags.allowedHost ?? listOf(env.SERVICE_ALLOWED_HOSTS) ?? file.allowedHosts ?? []
  if (!isLoopback(host) && allowedHosts.length === 0) {
    throw usage(`To listen on ${host}, name the hosts in the URLs of the server: --allowed-host <name>, once or more.`)
  }
  const trustProxy = flags.trustProxy ?? file.trustProxy ?? false
  if (trustProxy && mode === 'local_trusted') {
    throw usage(
      '--trust-proxy requires --mode authenticated: in local trusted mode, everyone behind the proxy would have the rights of the board.',
    )
  }
  const sandbox = flags.sandbox ?? (env.SERVICE_SANDBOX || undefined) ?? file.sandbox ?? 'off'
  if (!isOneOf(SANDBOXES, sandbox)) throw usage(`--sandbox must be ${SANDBOXES.join(' or ')}, not ${sandbox}.`)
  const logLevel = flags.logLevel ?? (env.SERVICE_LOG_LEVEL || undefined) ?? file.log?.level ?? 'info'
  if (!isOneOf(LOG_LEVELS, logLevel)) throw usage(`--log-level is ${LOG_LEVELS.join(', ')}, not ${logLevel}.`)
  const logFormat = (env.SERVICE_LOG_FORMAT || undefined) ?? file.log?.format ?? 'text'
  if (!isOneOf(LOG_FORMATS, logFormat)) {
    throw usage(`SERVICE_LOG_FORMAT is ${LOG_FORMATS.join(' or ')}, not ${logFormat}.`)
  }
  const requireToken = flags.requireToken ?? file.requireToken ?? false
  if (requireToken && mode !== 'local_trusted') {
    throw usage('--require-token requires local trusted mode. In authenticated mode everyone signs in.')
  }
  return {
    dataDir,
    host,
    port: port === undefined ? (file.port ?? DEFAULT_PORT) : portOf(port),
    portGiven: port !== undefined || file.port !== undefined,
    mode,
    modeGiven: chosenMode !== undefined,
    allowedHosts,
    trustProxy,
    requireToken,
    maxRuns: numberOf('SERVICE_MAX_RUNS', env, 1) ?? file.maxRuns ?? availableParallelism(),
    bodyLimit: 2 * 1024 * 1024,
    log: { level: logLevel, format: logFormat, files: file.log?.files ?? 5 },
    logLimit: file.logLimit ?? 4 * 1024 * 1024,
    loopRuns: file.loopRuns ?? 5,
    maxWakeDepth: file.maxWakeDepth ?? 20,
    issueRunsPerHour: file.issueRunsPerHour ?? 100,
    runMcp: file.runMcp ?? false,
    sandbox,
    pidNamespace: file.pidNamespace ?? true,
    drainSec: numberOf('SERVICE_DRAIN_SEC', env) ?? file.drainSec ?? 0,
    otlpEndpoint: urlOf('otlpEndpoint', (env.SERVICE_OTLP_ENDPOINT || undefined) ?? file.otlpEndpoint),
    webhookHosts: listOf(env.SERVICE_WEBHOOK_HOSTS) ?? file.webhookHosts ?? [],
    backups: {
      daily: file.backups?.daily ?? true,
      keepDaily: file.backups?.keepDaily ?? 7,
      keepWeekly: file.backups?.keepWeekly ?? 4,
    },
    retention: { ...DEFAULT_RETENTION, ...file.retention } as Retention,
    readOnly: flags.readOnly ?? false,
    isNew: flags.new ?? false,
    selfCheck: false,
    environment: passedOn(env),
    version: packageVersion(),
    instance: randomUUID(),
  }
}

/** The variables of the server's environment that runs receive: those of the user's login, language and network. */
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

const isOneOf = <T extends string>(values: readonly T[], value: string): value is T =>
  (values as readonly string[]).includes(value)

export const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

const usage = (message: string) => new AppError('validation_failed', message)

function portOf(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw usage(`The port must be a number from 0 to 65535, not ${text}.`)
  return port
}

/** Returns an http URL of the settings, or null if there is none. */
function urlOf(name: string, text: string | undefined): string | null {
  if (text === undefined) return null
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw usage(`${name} must be an http URL, not ${text}.`)
  return text
}

const listOf = (text: string | undefined) => (text ? text.split(/[ ,]+/).filter(Boolean) : undefined)

function numberOf(name: string, env: Environment, least = 0): number | undefined {
  const text = env[name]
  if (!text) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < least)
    throw usage(`${name} must be a whole number of at least ${least}, not ${text}.`)
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
    throw usage(`${file} cannot be used: ${describeError(error)}`)
  }
}

function describeError(error: unknown): string {
  if (!v.isValiError(error)) return error instanceof Error ? error.message : String(error)
  const [issue] = error.issues
  const key = v.getDotPath(issue)
  if (issue.type === 'strict_object' && issue.expected === 'never') return `Unknown key ${key}.`
  return key === null ? issue.message : `${key}: ${issue.message}`
}
