import { setTimeout as wait } from 'node:timers/promises'
import { Command } from 'commander'
import type { ResponseOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { programName } from './command/as-started.ts'
import { agentNames } from './command/find.ts'
import { oneLine, print, printJson, quoted } from './command/output.ts'

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
  else
    print(
      `All runs are frozen. ${stoppedLine(await listStopped(client, frozen))} ${waiting(frozen)} until \`${programName()} thaw\`.`,
    )
}

/** Lists the runs that the freeze stopped, each by its issue, or by its agent if it has no issue. */
async function listStopped(client: Client, { frozenAt }: Instance): Promise<string[]> {
  const companies = await client.request('GET /api/companies', { query: ALL })
  const runs = await Promise.all(
    companies.map(({ id: companyId }) =>
      client.request('GET /api/companies/:companyId/runs', {
        params: { companyId },
        query: { ...ALL, status: 'cancelled' },
      }),
    ),
  )
  const stopped = runs.flat().filter((run) => run.stopReason === 'stopped' && run.finishedAt! >= frozenAt!)
  return Promise.all(
    stopped.map(async ({ issueId, agentId }) =>
      issueId === null
        ? (await client.request('GET /api/agents/:agentId', { params: { agentId } })).name
        : (await client.request('GET /api/issues/:issueId', { params: { issueId } })).identifier,
    ),
  )
}

function stoppedLine(names: readonly string[]): string {
  if (names.length === 0) return 'No run was live.'
  return `${names.length} ${names.length === 1 ? 'run' : 'runs'} stopped: ${oneLine(names.join(', '))}.`
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
  const client = connect(options, process.env)
  const { isFrozen } = await client.request('GET /api/instance')
  const instance: Instance = await client.request('POST /api/instance/thaw')
  if (options.json) return printJson(instance)
  if (!isFrozen) return print('There is no freeze.')
  print(`The freeze has ended. ${startable(instance)}`)
  const idle = await listIdleWork(client)
  if (idle.length === 0) return
  const more = idle.length - MAX_LISTED
  print('These issues are in progress without a run. To continue one:')
  for (const { name, identifier } of idle.slice(0, MAX_LISTED)) {
    print(`  ${programName()} agent invoke ${quoted(oneLine(name))} --issue ${identifier}`)
  }
  if (more > 0) print(`  ... ${more} more; see \`${programName()} issue list --status in_progress\``)
}

const MAX_LISTED = 20

/** Lists the issues that an agent has in progress without a live run, with the name of the agent. */
async function listIdleWork(client: Client): Promise<{ name: string; identifier: string }[]> {
  const companies = await client.request('GET /api/companies', { query: ALL })
  const lists = await Promise.all(
    companies.map(async ({ id: companyId }) => {
      const params = { companyId }
      const [issues, live, nameOf] = await Promise.all([
        client.request('GET /api/companies/:companyId/issues', { params, query: { ...ALL, status: 'in_progress' } }),
        client.request('GET /api/companies/:companyId/live-runs', { params, query: ALL }),
        agentNames(client, companyId),
      ])
      return issues
        .filter(({ id, assigneeAgentId }) => assigneeAgentId !== null && !live.some(({ issueId }) => issueId === id))
        .map(({ identifier, assigneeAgentId }) => ({ name: nameOf(assigneeAgentId), identifier }))
    }),
  )
  return lists.flat()
}

const ALL = { limit: 1000 }

const runs = (count: number) => (count === 1 ? '1 run has' : `${count} runs have`)

function startable({ waitingWakes }: Instance): string {
  if (waitingWakes === 0) return 'Runs can start again.'
  return `${waitingWakes === 1 ? 'One waiting run' : `${waitingWakes} waiting runs`} can start now.`
}

function waiting({ waitingWakes }: Instance): string {
  if (waitingWakes === 0) return 'No run starts'
  return waitingWakes === 1 ? '1 agent waits' : `${waitingWakes} agents wait`
}
