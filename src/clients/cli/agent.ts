import type { Command } from 'commander'
import type { BodyOf, ResponseOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { findId, inCompany } from './find.ts'
import { parseDollars, readJson } from './input.ts'
import { ago, fields, localTime, money, paint, plain, shortId, table, words } from './output.ts'
import { clientOf, list, mapDefined, noun, type Options, show, verb } from './verb.ts'

type AgentChange = BodyOf<'PATCH /api/agents/:agentId'>

interface Change extends Options {
  name?: string
  role?: AgentChange['role']
  title?: string
  reportsTo?: string
  adapter?: AgentChange['adapterType']
  config?: string
  budget?: string
}

type Agent = ResponseOf<'GET /api/agents/:agentId'>

const withChange = (command: Command): Command =>
  command
    .option('--role <role>', 'such as ceo, manager, engineer')
    .option('--title <title>')
    .option('--reports-to <agent>', 'its manager')
    .option('--adapter <type>', 'runtimeA_local, runtimeB_local, process or http')
    .option('--config <json>', 'the adapterConfig: JSON, @file or -')
    .option('--budget <dollars>', 'a month; 0 is no limit')

export const agentCommand = () =>
  noun('agent', 'Agents: configured programs that do the work.', [
    verb('list', 'List the agents.', ['agent list', 'agent list --status paused,error'])
      .option('--status <list>', 'only these, separated by commas')
      .action(listAll),
    verb('show', 'Show an agent.', ['agent show Ada']).argument('<agent>', 'its name, key or id').action(showOne),
    withChange(
      verb('create', 'Create an agent.', [
        'agent create Ada --role ceo --budget 20',
        'agent create Kit --reports-to Ada --adapter process --config \'{"command":"make"}\'',
      ]),
    )
      .argument('<name>')
      .action(create),
    withChange(verb('update', 'Change an agent.', ['agent update Kit --title "Chart maker" --config @kit.json']))
      .argument('<agent>', 'its name, key or id')
      .option('--name <name>')
      .action(update),
    verb('pause', 'Pause an agent and stop its runs.', ['agent pause Kit --reason "Not today."'])
      .argument('<agent>')
      .option('--reason <text>')
      .action((ref, options) => act(ref, 'pause', { reason: options.reason }, options)),
    verb('resume', 'Resume a paused agent.', ['agent resume Kit'])
      .argument('<agent>')
      .action((ref, options) => act(ref, 'resume', {}, options)),
    verb('terminate', 'Terminate an agent. This cannot be undone.', ['agent terminate Kit'])
      .argument('<agent>')
      .action((ref, options) => act(ref, 'terminate', {}, options)),
    verb('invoke', 'Wake an agent now.', ['agent invoke Kit', 'agent invoke Kit --issue TER-6 --reason "Try again."'])
      .argument('<agent>')
      .option('--issue <issue>', 'the issue to start with')
      .option('--reason <text>')
      .action(invoke),
    verb('rehearse', 'Show what the next run would do, without running it.', [
      'agent rehearse Kit',
      'agent rehearse Kit --issue TER-6 --json',
    ])
      .argument('<agent>')
      .option('--issue <issue>', 'as if it were woken on this issue')
      .action(async (ref, options) => (await import('./rehearse.ts')).rehearse(ref, options)),
    verb('keys', "List an agent's keys, make one, or revoke one.", [
      'agent keys Kit',
      'agent keys Kit --create laptop',
      'agent keys Kit --revoke 1f3b5d7e',
    ])
      .argument('<agent>')
      .option('--create <name>', 'create a key and print it once')
      .option('--revoke <key>', 'by its id')
      .action(keys),
  ])

async function listAll(options: Options & { status?: string }): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const agents = await list(client, 'GET /api/companies/:companyId/agents', {
    params: { companyId },
    query: { limit: 1000, status: options.status },
  })
  const names = new Map<string | null, string>(agents.map((agent) => [agent.id, agent.name]))
  show(options, agents, () => {
    const rows = agents.map((agent) => [
      agent.name,
      agent.role,
      words(agent.status) + (agent.pauseReason ? ` (${agent.pauseReason})` : ''),
      names.get(agent.reportsTo) ?? '',
      money(agent.spentMonthlyCents),
      agent.budgetMonthlyCents === 0 ? 'no limit' : money(agent.budgetMonthlyCents),
      ago(agent.lastHeartbeatAt),
    ])
    return table([['Name', 'Role', 'Status', 'Manager', 'Spent', 'Budget', 'Last run'], ...rows])
  })
}

async function showOne(ref: string, options: Options): Promise<void> {
  const agentId = await findId(options, 'agent', ref)
  const agent = await clientOf(options).request('GET /api/agents/:agentId', { params: { agentId } })
  show(options, agent, () => describe(agent))
}

const describe = (agent: Agent) =>
  fields([
    ['Name', agent.name],
    ['Role', [agent.role, agent.title].filter(Boolean).join(', ')],
    ['Status', words(agent.status)],
    ['Because', agent.pauseMessage ?? agent.errorReason],
    ['Manager', agent.chainOfCommand?.[0]?.name],
    ['Adapter', agent.adapterType],
    ['Config', JSON.stringify(agent.adapterConfig)],
    ['Runtime', JSON.stringify(agent.runtimeConfig)],
    ['This month', `${money(agent.spentMonthlyCents)} of ${budgetOf(agent)}`],
    ['Last run', agent.lastHeartbeatAt && localTime(agent.lastHeartbeatAt)],
    ['Id', agent.id],
  ])

const budgetOf = (agent: Agent) => (agent.budgetMonthlyCents === 0 ? 'no limit' : money(agent.budgetMonthlyCents))

async function changeOf(options: Change) {
  const { role, title, reportsTo, adapter, config, budget } = options
  return {
    role,
    title,
    reportsTo: await mapDefined(reportsTo, (name) => findId(options, 'agent', name)),
    adapterType: adapter,
    adapterConfig: await mapDefined(config, readJson<NonNullable<AgentChange['adapterConfig']>>),
    budgetMonthlyCents: mapDefined(budget, parseDollars),
  }
}

async function create(name: string, options: Change): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const body = { ...(await changeOf(options)), name }
  const agent = await client.request('POST /api/companies/:companyId/agents', { params: { companyId }, body })
  show(options, agent, () => describe(agent))
}

async function update(ref: string, options: Change): Promise<void> {
  const agentId = await findId(options, 'agent', ref)
  const body = { ...(await changeOf(options)), name: options.name }
  const agent = await clientOf(options).request('PATCH /api/agents/:agentId', { params: { agentId }, body })
  show(options, agent, () => describe(agent))
}

type Action = 'pause' | 'resume' | 'terminate'

async function act(ref: string, action: Action, body: { reason?: string | undefined }, options: Options) {
  const agentId = await findId(options, 'agent', ref)
  const agent = await clientOf(options).request(`POST /api/agents/:agentId/${action}`, { params: { agentId }, body })
  show(options, agent, () => `${agent.name} is ${words(agent.status)}.`)
}

async function invoke(ref: string, options: Options & { issue?: string; reason?: string }): Promise<void> {
  const agentId = await findId(options, 'agent', ref)
  const body = { issueId: options.issue, reason: options.reason }
  const wake = await clientOf(options).request('POST /api/agents/:agentId/wakeup', { params: { agentId }, body })
  show(options, wake, () => `${plain(ref)} is to run${wake.notBefore ? ` at ${localTime(wake.notBefore)}` : ' now'}.`)
}

async function keys(ref: string, options: Options & { create?: string; revoke?: string }): Promise<void> {
  const agentId = await findId(options, 'agent', ref)
  const client = clientOf(options)
  if (options.create !== undefined) {
    const body = { name: options.create }
    const key = await client.request('POST /api/agents/:agentId/keys', { params: { agentId }, body })
    return show(options, key, () => `${paint('strong', key.token)}\nThis is the only time that it is shown.`)
  }
  if (options.revoke !== undefined) {
    const keyId = await findKeyId(client, agentId, options.revoke)
    const key = await client.request('DELETE /api/agents/:agentId/keys/:keyId', { params: { agentId, keyId } })
    return show(options, key, () => `The key ${key.name} is revoked.`)
  }
  const all = await client.request('GET /api/agents/:agentId/keys', { params: { agentId } })
  show(options, all, () => {
    const rows = all.map((key) => [
      key.name,
      key.prefix,
      key.revokedAt ? 'revoked' : 'valid',
      ago(key.lastUsedAt),
      ago(key.createdAt),
      shortId(key.id),
    ])
    return table([['Name', 'Begins', 'Status', 'Last used', 'Age', 'Id'], ...rows])
  })
}

async function findKeyId(client: Client, agentId: string, ref: string): Promise<string> {
  const all = await client.request('GET /api/agents/:agentId/keys', { params: { agentId } })
  return all.find((key) => key.id.endsWith(ref) || key.name === ref)?.id ?? ref
}
