import { setTimeout as wait } from 'node:timers/promises'
import { Command } from 'commander'
import { dataDirOf } from '../../platform/config.ts'
import { readServerInfo, readServerKeys, type ServerInfo } from '../../platform/database/server-info.ts'
import { identityOf } from '../../runtime/process/process-table.ts'
import { type Client, createClient } from '../connection/client.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { readHealth } from '../connection/health.ts'
import { print, printJson } from './command/output.ts'

interface StopOptions {
  dataDir?: string
  timeout: string
  runs?: boolean
  json?: boolean
}

/** The interval of checks whether the process has exited. It is not a child, so its exit causes no event. */
const POLL_MS = 20

export const stopCommand = () =>
  new Command('stop')
    .description('Stop the server of a data directory, and wait until it has exited.')
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')
    .option('--runs', 'also stop the runs; otherwise they continue, and the next start adopts them')
    .option('--timeout <seconds>', 'how long to wait', '30')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ service stop\n  $ service stop --runs\n  $ service stop --data-dir ./data --timeout 60',
    )
    .action(stop)

async function stop(options: StopOptions): Promise<void> {
  const seconds = Number(options.timeout)
  if (!(seconds >= 0)) throw new CliError(EXIT.usage, `--timeout must be a number of seconds, not ${options.timeout}.`)
  const dataDir = dataDirOf(options, process.env)
  const info = readServerInfo(dataDir)
  if (!info?.url || !identityOf(info.pid))
    throw new CliError(EXIT.unreachable, `No server is running with the data directory ${dataDir}.`)
  const client = createClient({ url: info.url, token: readServerKeys(dataDir).boardToken })
  await verifyServer(info, client)
  const { liveRuns } = await client.request('GET /api/instance').catch(() => ({ liveRuns: null }))
  // See `runServer` for the meaning of each signal.
  process.kill(info.pid, options.runs ? 'SIGINT' : 'SIGTERM')
  const deadline = Date.now() + seconds * 1_000
  // A zombie has no identity and counts as stopped.
  while (identityOf(info.pid)) {
    if (Date.now() > deadline) {
      throw new CliError(EXIT.timeout, `The server (pid ${info.pid}) has not stopped within ${seconds} s.`)
    }
    await wait(POLL_MS)
  }
  const left = options.runs ? 0 : liveRuns
  if (options.json) printJson({ stopped: true, pid: info.pid, dataDir, runsLeft: left })
  else print(`The server (pid ${info.pid}) has stopped.${left ? ` ${continuing(left)}` : ''}`)
}

const continuing = (runs: number) =>
  `${runs === 1 ? 'One run continues' : `${runs} runs continue`}; the next start adopts ${runs === 1 ? 'it' : 'them'}.`

/**
 * Verifies that the pid belongs to the server before the command signals it.
 * After a crash the file remains, and another program may have the pid. Only the
 * server that wrote the file returns the instance id in it.
 */
async function verifyServer(info: ServerInfo, client: Client): Promise<void> {
  const health = await readHealth(client)
  if (info.instance === null || health.instance !== info.instance) {
    throw new CliError(
      EXIT.unreachable,
      `The server at ${info.url} uses another data directory, so it was not stopped.`,
    )
  }
}
