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

/** How often to look whether the process is gone: no event tells of the end of a process that is not a child. */
const LOOK_EVERY_MS = 20

export const stopCommand = () =>
  new Command('stop')
    .description('Stop the server of a data directory, and wait until it is gone.')
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')
    .option('--runs', 'stop the runs too; otherwise they go on, and the next start adopts them')
    .option('--timeout <seconds>', 'how long to wait', '30')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ service stop\n  $ service stop --runs\n  $ service stop --data-dir ./data --timeout 60',
    )
    .action(stop)

async function stop(options: StopOptions): Promise<void> {
  const seconds = Number(options.timeout)
  if (!(seconds >= 0)) throw new CliError(EXIT.usage, `--timeout is a number of seconds, not ${options.timeout}.`)
  const dataDir = dataDirOf(options, process.env)
  const info = readServerInfo(dataDir)
  if (!info?.url || !identityOf(info.pid))
    throw new CliError(EXIT.unreachable, `No server has the data directory ${dataDir}.`)
  const client = createClient({ url: info.url, token: readServerKeys(dataDir).boardToken })
  await proveHolder(info, client)
  const { liveRuns } = await client.request('GET /api/instance').catch(() => ({ liveRuns: null }))
  // What each does is told at `runServer`.
  process.kill(info.pid, options.runs ? 'SIGINT' : 'SIGTERM')
  const deadline = Date.now() + seconds * 1_000
  // A zombie, which its parent does not wait for, has no identity: it has stopped.
  while (identityOf(info.pid)) {
    if (Date.now() > deadline) {
      throw new CliError(
        EXIT.timeout,
        `The server (pid ${info.pid}) was told to stop and is still there after ${seconds} s.`,
      )
    }
    await wait(LOOK_EVERY_MS)
  }
  const left = options.runs ? 0 : liveRuns
  if (options.json) printJson({ stopped: true, pid: info.pid, dataDir, runsLeft: left })
  else print(`The server (pid ${info.pid}) has stopped.${left ? ` ${goOn(left)}` : ''}`)
}

const goOn = (runs: number) =>
  `${runs === 1 ? 'One run goes' : `${runs} runs go`} on; the next start adopts ${runs === 1 ? 'it' : 'them'}.`

/**
 * Makes sure that the pid is the server's before it is signalled: after a crash
 * the file stays, and the pid may be another program's by then. Only the server
 * that wrote the file answers with the instance that stands in it.
 */
async function proveHolder(info: ServerInfo, client: Client): Promise<void> {
  const health = await readHealth(client)
  if (info.instance === null || health.instance !== info.instance) {
    throw new CliError(
      EXIT.unreachable,
      `The server at ${info.url} is not the one of this data directory; nothing was stopped.`,
    )
  }
}
