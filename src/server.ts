import { accessSync, constants, mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createProbe } from './adapter/capabilities.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { type Context, createContext } from './context.ts'
import { lockDataDir } from './database/lock.ts'
import { openDatabase } from './database/open.ts'
import { AppError } from './errors.ts'
import { createApp } from './http/app.ts'
import { listen } from './http/listener.ts'
import type { Log } from './log.ts'
import { argvOf } from './programs.ts'
import { createRunTokens, readRunTokenKey } from './run/token.ts'
import { createExecutor, type Executor } from './scheduler/executor.ts'
import { rescueRuns } from './scheduler/rescue.ts'
import { createScheduler } from './scheduler/scheduler.ts'
import { refreshBundledSkills } from './skill/bundled.ts'

export interface RunningServer {
  url: string
  ctx: Context
  /** Stops, once what is under way is answered, and gives the data directory back. Closing twice is closing once. */
  close(): Promise<void>
}

/**
 * Boots the whole server: locks and opens the database, listens, and only then
 * looks after what a server before it left.
 *
 * @throws DataDirTaken when another server has the data directory
 */
export async function startServer(config: Config, log: Log, clock: Clock = systemClock): Promise<RunningServer> {
  makeDataDir(config.dataDir)
  const lock = lockDataDir(config.dataDir)
  const closers: Closer[] = [() => lock.release()]
  try {
    const sqlite = openDatabase(path.join(config.dataDir, 'service.db'), {
      backupDir: path.join(config.dataDir, 'backups'),
      now: clock.now(),
    })
    closers.push(() => {
      sqlite.close()
    })
    const tokens = createRunTokens(readRunTokenKey(path.join(config.dataDir, 'keys')))
    const ctx = createContext({ sqlite, clock, config, log, tokens })
    closers.push(ctx.flush)

    const listener = await listen(config)
    closers.push(() => listener.close())
    listener.serve(createApp(ctx).fetch)
    closers.push(() => ctx.events.close())
    const url = `http://${urlHost(config.host)}:${listener.port}`
    lock.announce({ pid: process.pid, url, instance: config.instance })
    const executor = createExecutor(ctx, {
      apiUrl: url,
      probe: createProbe(config.environment),
      shim: argvOf('shim'),
      postProgram: argvOf('post'),
    })
    closers.push(() => executor.close())
    const scheduler = createScheduler(ctx, executor.execute)
    closers.push(async () => {
      scheduler.close()
      await drain(executor, config.drainSec)
    })
    await refreshBundledSkills(ctx)
    await rescueRuns(ctx, executor)
    await scheduler.start()
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= closeAll(closers)
      return closing
    }
    return { url, ctx, close }
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

/** Gives the runs under way some time to finish, then stops them; they go on at the next start. */
async function drain(executor: Executor, drainSec: number): Promise<void> {
  const patience = new AbortController()
  await Promise.race([executor.idle(), delay(drainSec * 1_000, undefined, { signal: patience.signal }).catch(() => {})])
  patience.abort()
  await executor.stopAll()
}

type Closer = () => void | Promise<void>

/** Closes what was opened, the latest first, all of it whatever fails; then throws the first failure. */
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
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new AppError(
      'validation_failed',
      `The data directory ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code}). Choose another with --data-dir.`,
    )
  }
}

const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host)
