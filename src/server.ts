import { accessSync, chmodSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cookieNames } from './access/auth/cookies.ts'
import { type AccessContext, createSignIn } from './access/auth/sign-in.ts'
import { adoptCompanies } from './access/board/membership-queries.ts'
import { deleteExpiredSessions, isAnyUser } from './access/board/user-queries.ts'
import { createApp } from './app.ts'
import { finishRestore } from './clients/backup/place.ts'
import { scheduleBackups } from './clients/backup/schedule.ts'
import { withMcp } from './clients/mcp/http.ts'
import { withPage } from './clients/web/serve.ts'
import { listen } from './http/listener.ts'
import { removeLeftovers } from './organization/company/leftovers.ts'
import { listCompanies } from './organization/company/queries.ts'
import { refreshBundledSkills } from './organization/skill/bundled.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { type Config, isLoopback } from './platform/config.ts'
import { createContext } from './platform/context.ts'
import { lockDataDir } from './platform/database/lock.ts'
import { mergeTextWhileQuiet } from './platform/database/merge-text.ts'
import { openDatabase } from './platform/database/open.ts'
import { refuseMissingDatabase } from './platform/database/presence.ts'
import { AppError } from './platform/errors.ts'
import { readKeyFile } from './platform/key-file.ts'
import type { Log } from './platform/log.ts'
import { argvOf } from './platform/programs.ts'
import { createVault } from './platform/vault.ts'
import { removeInterruptedImports } from './portability/company/instructions.ts'
import { createExecutor, type Executor } from './runtime/executor/executor.ts'
import { rescueRuns } from './runtime/executor/rescue.ts'
import { createRunTokens, type RunTokens } from './runtime/executor/run-token.ts'
import { createIsolation } from './runtime/isolation/isolation.ts'
import type { RunSocket } from './runtime/placement/run-socket.ts'
import { createProbe } from './runtime/process/capabilities.ts'
import { createRetention } from './runtime/retention/retention.ts'
import { createScheduler } from './runtime/scheduler/scheduler.ts'
import { traceRuns } from './runtime/tracing/run-spans.ts'
import { createWebhookSender } from './runtime/webhook/sender.ts'

export interface RunningServer {
  url: string
  ctx: AccessContext
  tokens: RunTokens
  /** Resolves if the database files are deleted or replaced: the server must end. */
  lost: Promise<Error>
  /** Waits for the open requests, stops the server and unlocks the data directory. Later calls return the same promise. */
  close(how?: Stop): Promise<void>
}

/** The options of a stop. */
export interface Stop {
  /**
   * `stop` (the default) ends the live runs; the next start runs them again.
   * `leave` does not touch them: the next server adopts them, so an upgrade
   * interrupts no run.
   */
  runs?: 'stop' | 'leave'
  /** Receives the number of live runs that the stop waits for, at the beginning and after each end. */
  onLeft?: (runs: number) => void
}

/**
 * Starts the server: locks the data directory, opens the database, listens, and
 * then takes over the runs of a previous server and starts the scheduler.
 *
 * @throws DataDirTaken if another server uses the data directory
 */
export async function startServer(config: Config, log: Log, clock: Clock = systemClock): Promise<RunningServer> {
  makeDataDir(config.dataDir)
  const lock = lockDataDir(config.dataDir)
  const closers: Closer[] = [() => lock.release()]
  try {
    finishRestore(config.dataDir)
    if (!config.isNew) refuseMissingDatabase(config.dataDir)
    const sqlite = openDatabase(path.join(config.dataDir, 'service.db'), {
      backupDir: path.join(config.dataDir, 'backups'),
      now: clock.now(),
      onStep: ({ summary, ms }) => log.info('The database is migrated.', { step: summary, ms: Math.round(ms) }),
    })
    closers.push(() => {
      sqlite.close()
    })
    const tokens = createRunTokens(readKeyFile(config, 'run-token'))
    const vault = createVault(readKeyFile(config, 'secret'))
    const owned = createContext({ sqlite, clock, config, log, vault })
    const cookies = cookieNames(config, vault)
    const identity =
      config.mode === 'authenticated' ? await loadIdentity(config, cookies.session, owned.untilFree) : undefined
    if (identity) closers.push(() => identity.close())
    const ctx = Object.assign(owned, { signIn: createSignIn(config, cookies, identity) })
    closers.push(ctx.flush, () => ctx.reader.close(), ctx.metrics.close)
    if (config.otlpEndpoint !== null) {
      const { createOtlpTracer } = await import('./platform/otlp-tracer.ts')
      ctx.tracer = createOtlpTracer(config.otlpEndpoint, config, log)
      closers.push(traceRuns(ctx, ctx.tracer), ctx.tracer.close)
    }
    refuseUnintendedMode(ctx)
    const lost = Promise.withResolvers<Error>()
    const checkFiles = setInterval(() => {
      try {
        ctx.checkFiles()
      } catch (error) {
        lost.resolve(error as Error)
      }
    }, CHECK_FILES_MS)
    closers.push(() => clearInterval(checkFiles))
    if (identity) await ctx.write(() => preparePeople(ctx))

    const listener = await listen({
      ...config,
      allowedHosts: [...config.allowedHosts, ...ownNames(config.host)],
      log,
    })
    closers.push(() => listener.close())
    const serve = withMcp(ctx, createApp(ctx, tokens).handle)
    listener.serve(config.webFolder === undefined ? serve : withPage(ctx, config.webFolder, serve))
    closers.push(() => ctx.events.close())
    if (log.isEnabled('debug')) ctx.events.subscribe(({ type, companyId }) => log.debug(type, { companyId }))
    let runSocket: Promise<RunSocket> | undefined
    const url = `http://${urlHost(reachable(config.host))}:${listener.port}`
    lock.announce(
      { pid: process.pid, url, instance: config.instance },
      { boardToken: ctx.signIn.local.key, resetKey: identity && ctx.signIn.resets.key },
    )
    ctx.openRunSocket = async () => {
      runSocket ??= import('./runtime/placement/run-socket.ts').then(({ createRunSocket }) =>
        createRunSocket(config.dataDir, serve, log),
      )
      return (await runSocket).open()
    }
    closers.push(async () => (await runSocket)?.close())
    const isolation = createIsolation(config.environment.PATH)
    // The probe ends before the first claim, because a run that is claimed and not yet spawned is lost if the server dies.
    const probed = config.pidNamespace && !config.readOnly ? isolation.pidNamespace() : undefined
    const executor = createExecutor(ctx, {
      apiUrl: url,
      probe: createProbe(config.environment),
      isolation,
      shim: argvOf('shim'),
      postProgram: argvOf('post'),
      tokens,
      openRemoteRuns: async (...given) =>
        (await import('./runtime/placement/remote-runs.ts')).createRemoteRuns(...given),
    })
    closers.push(() => executor.close())
    const scheduler = createScheduler(ctx, executor)
    let how: Stop = {}
    closers.push(async () => {
      scheduler.close()
      await drain(executor, config.drainSec)
      if (how.runs === 'leave') await executor.launched()
      else await executor.stopAll(how.onLeft)
    })
    if (!config.readOnly) {
      await refreshBundledSkills(ctx)
      await rescueRuns(ctx, executor)
      await removeLeftovers(ctx)
      await probed
      await removeInterruptedImports(ctx)
      await scheduler.start()
      const webhooks = createWebhookSender(ctx)
      webhooks.start()
      closers.push(() => webhooks.close())
      closers.push(mergeTextWhileQuiet(sqlite, ctx.write))
      const retention = createRetention(ctx)
      retention.start()
      closers.push(() => retention.close())
      closers.push(
        scheduleBackups(config, log, () => listCompanies(ctx.db, { ids: null, now: ctx.now, limit: 1 }).length > 0),
      )
    }
    let closing: Promise<void> | undefined
    const close = (stop: Stop = {}) => {
      if (!closing) {
        how = stop
        closing = closeAll(closers)
      }
      return closing
    }
    return { url, ctx, tokens, lost: lost.promise, close }
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

/** The interval, in milliseconds, of the check that the data directory still contains the open database. Each commit checks it too. */
const CHECK_FILES_MS = 1_000

/** Waits until all runs of this machine have ended, at most `drainSec` seconds. */
async function drain(executor: Executor, drainSec: number): Promise<void> {
  const timeout = new AbortController()
  await Promise.race([
    executor.idleHere(),
    delay(drainSec * 1_000, undefined, { signal: timeout.signal }).catch(() => {}),
  ])
  timeout.abort()
}

type Closer = () => void | Promise<void>

/** Calls all closers, the latest first, even if some fail. Then throws the first failure. */
async function closeAll(closers: readonly Closer[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of closers.toReversed()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

function makeDataDir(dataDir: string): void {
  const refuse = (why: string) =>
    new AppError('validation_failed', `The data directory ${dataDir} ${why}. Choose another with --data-dir.`)
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw refuse(`cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
  const { mode, uid } = statSync(dataDir)
  // Its owner could read and replace every file, also if the server runs as root.
  if (uid !== process.getuid?.()) throw refuse('belongs to another user')
  if ((mode & 0o077) === 0) return
  // Other users can read the folder. A folder with other files may be shared on purpose, so its mode is not changed.
  const names = readdirSync(dataDir)
  const isOurs = names.length === 0 || names.includes('service.db') || names.includes('config.json')
  if (!isOurs) throw refuse('can be read by other users and contains other files')
  try {
    chmodSync(dataDir, 0o700)
  } catch (error) {
    throw refuse(`can be read by other users (${(error as NodeJS.ErrnoException).code})`)
  }
}

/**
 * Refuses the default mode for the data of authenticated mode: everyone who
 * reaches the server would have the rights of the board without a sign-in.
 */
function refuseUnintendedMode({ config, db }: AccessContext): void {
  if (config.mode !== 'local_trusted' || config.modeGiven || config.readOnly || !isAnyUser(db)) return
  throw new AppError(
    'validation_failed',
    `The data directory ${config.dataDir} has accounts of people. Start with --mode authenticated, or with --mode local_trusted to give everyone on this machine the rights of the board. "mode" in config.json sets it for each start.`,
  )
}

/** Loads the module of passwords and sessions, which only authenticated mode needs. It has half a megabyte. */
async function loadIdentity(config: Config, cookieName: string, untilFree: () => Promise<void>) {
  const { openIdentity } = await import('./access/auth/identity.ts')
  return openIdentity(config, readKeyFile(config, 'session'), cookieName, untilFree)
}

/** Deletes expired sessions, and assigns the companies that local trusted mode created to the first person. */
function preparePeople(ctx: AccessContext): void {
  if (isAnyUser(ctx.db)) ctx.signIn.setup?.use(ctx.signIn.setup.token ?? '')
  deleteExpiredSessions(ctx.db, ctx.now)
  adoptCompanies(ctx.db, ctx.now)
}

const isEverywhere = (host: string) => host === '0.0.0.0' || host === '::'

/** Returns the host at which runs and the command line reach a server that listens on every address. */
const reachable = (host: string) => (isEverywhere(host) ? '127.0.0.1' : host)

/** Returns the host names that the configured address adds to the allowed ones. */
const ownNames = (host: string) => (isEverywhere(host) || isLoopback(host) ? [] : [urlHost(host)])

const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host)
