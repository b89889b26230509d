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
 * A second signal within this time is a copy of the first one, because both the
 * terminal and a parent process (npm, the launcher) send it. In milliseconds.
 */
const SAME_SIGNAL_MS = 500

/**
 * Runs the server in this process. The first signal closes it gracefully, a
 * second one exits at once. SIGTERM (an upgrade, `service stop`) does not
 * stop the runs; the next server adopts them. SIGINT (Ctrl-C) and SIGHUP (a closed
 * terminal) also stop the runs.
 *
 * @param options.keepRuns whether SIGTERM leaves the runs to the next server; if false, every signal stops them
 * @throws CliError with the exit code for the reason why the server cannot start
 */
export const runServer: RunServer = async (config, { keepRuns = true } = {}) => {
  if (process.platform === 'win32') {
    throw new CliError(
      EXIT.failure,
      'The server runs on Linux and macOS: Windows has no process groups, which the server needs to stop runs. Use WSL.',
    )
  }
  // Only the user of the server may read the files that it writes.
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
    // An unreadable page of the database fails only the request or job that needs it.
    if (!isDatabaseFault(error)) process.exit(EXIT.failure)
  }
  process.on('uncaughtException', onUnexpected)
  process.on('unhandledRejection', onUnexpected)
  const server = await startServer({ ...config, webFolder: findWebFolder() }, log).catch((error) => {
    throw startFailure(error)
  })
  // Only in the file, because the terminal shows the banner.
  const inFile = createLog(appendToFile, { level })
  inFile.info(`service ${config.version} is up.`, { url: server.url, pid: process.pid, mode: config.mode })

  server.lost.then(({ message }) => {
    log.error(message)
    process.exit(EXIT.failure)
  })
  const { promise: ended, resolve, reject } = Promise.withResolvers<ServerEnd>()
  let stoppedAt: number | undefined
  const end = (how: Stop) => {
    if (stoppedAt !== undefined) return
    stoppedAt = Date.now()
    const liveRuns = countLive(server.ctx.db)
    server.close(how).then(() => {
      inFile.info('The server has stopped.', { pid: process.pid })
      resolve({ liveRuns, wereStopped: how.runs === 'stop' })
    }, reject)
  }
  const stop = () => end({ runs: 'stop', onLeft: logRemaining(log) })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stoppedAt !== undefined && Date.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(EXIT.failure)
      if (signal === 'SIGTERM' && keepRuns) end({ runs: 'leave' })
      else stop()
    })
  }
  const during = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      const wasStopped = stoppedAt !== undefined
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

/** Returns a function that logs the number of runs that the stop waits for. */
const logRemaining = (log: Log) => (runs: number) =>
  log.info(runs === 0 ? 'Every run has ended.' : `Stopping; ${runs} ${runs === 1 ? 'run has' : 'runs have'} to end.`)

function startFailure(error: unknown): unknown {
  if (error instanceof DataDirTaken) return new CliError(EXIT.taken, error.message)
  // A busy port is an AppError `conflict`, whose exit code would be that of a refused change.
  if (error instanceof AppError && error.code === 'conflict') {
    return new CliError(EXIT.failure, `${error.message} Omit --port to use the next free one.`)
  }
  return error
}
