import type { RunServer, ServerEnd } from './clients/cli/server-process.ts'
import { CliError, EXIT } from './clients/connection/exit-codes.ts'
import { findWebFolder } from './clients/web/serve.ts'
import { listLiveRuns } from './organization/run/queries.ts'
import type { Db } from './platform/database/db.ts'
import { DataDirTaken } from './platform/database/lock.ts'
import { isDatabaseFault } from './platform/database/write-queue.ts'
import { AppError } from './platform/errors.ts'
import { createLog, type Log } from './platform/log.ts'
import { formatEntry, parseEntry } from './platform/log-entry.ts'
import { logFile, openLogFile } from './platform/log-file.ts'
import { type Stop, startServer } from './server.ts'

/**
 * One Ctrl-C can arrive twice at once: from the terminal and from a parent
 * (npm, the launcher) that passes it on. Only a later one is impatience.
 */
const SAME_SIGNAL_MS = 500

/**
 * Runs the server in this process. The first signal closes it gracefully, a
 * second one exits at once. SIGTERM (an upgrade, `service stop`) leaves the runs
 * to the next server, which adopts them. SIGINT (Ctrl-C) and SIGHUP (a closed
 * terminal) also stop the runs.
 *
 * @param options.keepRuns whether SIGTERM leaves the runs to the next server; if false, every signal stops them
 * @throws CliError with an exit code that says why the server cannot start
 */
export const runServer: RunServer = async (config, { keepRuns = true } = {}) => {
  if (process.platform === 'win32') {
    throw new CliError(
      EXIT.failure,
      'The server runs on Linux and macOS: Windows has no process groups, which the server needs to stop runs. Use WSL.',
    )
  }
  // Whatever the server writes is for its own user alone.
  process.umask(0o077)
  const { level, format, files } = config.log
  const appendToFile = openLogFile(logFile(config.dataDir), files)
  const log = createLog(
    (line) => {
      process.stderr.write(format === 'json' ? line : `${formatEntry(parseEntry(line)!)}\n`)
      appendToFile(line)
    },
    { level },
  )
  const onUnexpected = (error: unknown) => {
    log.error('Unexpected failure.', { stack: String((error as Error)?.stack ?? error) })
    // A page of the database that cannot be read fails what needs it, and nothing else.
    if (!isDatabaseFault(error)) process.exit(EXIT.failure)
  }
  process.on('uncaughtException', onUnexpected)
  process.on('unhandledRejection', onUnexpected)
  const server = await startServer({ ...config, webFolder: findWebFolder() }, log).catch((error) => {
    throw startFailure(error)
  })
  // For the file alone: on the terminal the banner says it.
  const inFile = createLog(appendToFile, { level })
  inFile.info(`service ${config.version} is up.`, { url: server.url, pid: process.pid, mode: config.mode })

  server.lost.then(({ message }) => {
    log.error(message)
    process.exit(EXIT.failure)
  })
  const { promise: ended, resolve, reject } = Promise.withResolvers<ServerEnd>()
  let asked: number | undefined
  const end = (how: Stop) => {
    if (asked !== undefined) return
    asked = Date.now()
    const liveRuns = countLive(server.ctx.db)
    server.close(how).then(() => {
      inFile.info('The server has stopped.', { pid: process.pid })
      resolve({ liveRuns, wereStopped: how.runs === 'stop' })
    }, reject)
  }
  const stop = () => end({ runs: 'stop', onLeft: tellLeft(log) })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (asked !== undefined && Date.now() - asked > SAME_SIGNAL_MS) process.exit(EXIT.failure)
      if (signal === 'SIGTERM' && keepRuns) end({ runs: 'leave' })
      else stop()
    })
  }
  const during = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      const wasStopped = asked !== undefined
      stop()
      await ended
      if (wasStopped) return undefined
      throw error
    }
  }
  return { ...server, stop, ended, during }
}

/** A database that cannot be read does not prevent the stop. */
function countLive(db: Db): number {
  try {
    return listLiveRuns(db).length
  } catch (error) {
    if (isDatabaseFault(error)) return 0
    throw error
  }
}

/** Says what a stop waits for: it may take as long as the runs' grace. */
const tellLeft = (log: Log) => (runs: number) =>
  log.info(runs === 0 ? 'Every run has ended.' : `Stopping; ${runs} ${runs === 1 ? 'run has' : 'runs have'} to end.`)

function startFailure(error: unknown): unknown {
  if (error instanceof DataDirTaken) return new CliError(EXIT.taken, error.message)
  // A busy port is no conflict with what a client knows: the start failed.
  if (error instanceof AppError && error.code === 'conflict') {
    return new CliError(EXIT.failure, `${error.message} Omit --port to use the next free one.`)
  }
  return error
}
