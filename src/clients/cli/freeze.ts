import { setTimeout as wait } from 'node:timers/promises'
import { Command } from 'commander'
import type { ResponseOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { programName } from './command/as-started.ts'
import { print, printJson } from './command/output.ts'

interface FreezeOptions extends ConnectionOptions {
  reason?: string
  timeout: string
  json?: boolean
}

type Instance = ResponseOf<'GET /api/instance'>

const POLL_MS = 100

export const freezeCommand = () =>
  withConnection(new Command('freeze'))
    .description('Stop all runs now. No run starts until `service thaw`.')
    .option('--reason <text>', 'the reason, for the activity')
    .option('--timeout <seconds>', 'how long to wait for the runs to end', '60')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  $ service freeze\n  $ service freeze --reason "The bill"')
    .action(freeze)

export const thawCommand = () =>
  withConnection(new Command('thaw'))
    .description('End a freeze: runs may start again.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  $ service thaw')
    .action(thaw)

async function freeze(options: FreezeOptions): Promise<void> {
  const seconds = Number(options.timeout)
  if (!(seconds >= 0)) throw new CliError(EXIT.usage, `--timeout must be a number of seconds, not ${options.timeout}.`)
  const client = connect(options, process.env)
  const body = options.reason === undefined ? {} : { reason: options.reason }
  const instance: Instance = await client.request('POST /api/instance/freeze', { body })
  const frozen = await untilNoRunIsLive(client, instance, Date.now() + seconds * 1_000)
  if (options.json) printJson(frozen)
  else print(`All runs are frozen, and none is live. ${waiting(frozen)} until \`${programName()} thaw\`.`)
}

async function untilNoRunIsLive(client: Client, instance: Instance, deadline: number): Promise<Instance> {
  let printed = 0
  for (let now = instance; ; now = await client.request('GET /api/instance')) {
    if (now.liveRuns === 0) return now
    if (process.stdout.isTTY && now.liveRuns !== printed) print(`${runs(now.liveRuns)} to end ...`)
    printed = now.liveRuns
    if (Date.now() > deadline) {
      throw new CliError(EXIT.timeout, `All runs are frozen, but ${runs(now.liveRuns)} not ended yet.`)
    }
    await wait(POLL_MS)
  }
}

async function thaw(options: ConnectionOptions & { json?: boolean }): Promise<void> {
  const instance: Instance = await connect(options, process.env).request('POST /api/instance/thaw')
  if (options.json) printJson(instance)
  else print(`The freeze has ended. ${startable(instance)} can start now.`)
}

const runs = (count: number) => (count === 1 ? '1 run has' : `${count} runs have`)

const startable = ({ waitingWakes }: Instance) =>
  waitingWakes === 1 ? 'One waiting run' : `${waitingWakes} waiting runs`

const waiting = ({ waitingWakes }: Instance) => (waitingWakes === 1 ? '1 agent waits' : `${waitingWakes} agents wait`)
