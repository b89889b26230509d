import type { Command } from 'commander'
import type { Client } from './client.ts'
import { findId, inCompany } from './find.ts'
import { ago, fields, localTime, money, paint, plain, shortId, table, words } from './output.ts'
import { centsOf, clientOf, given, jsonOf, list, noun, type Options, show, verb } from './verb.ts'

interface Change extends Options {
  name?: string
  role?: string
  title?: string
  reportsTo?: string
  adapter?: string
  config?: string
  budget?: string
}

// biome-ignore lint/suspicious/noExplicitAny: an agent as the API shows it.
type Agent = any

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
      .action((ref, options) => act(ref, 'pause', given({ reason: options.reason }), options)),
    verb('resume', 'Let a paused agent work again.', ['agent resume Kit'])
      .argument('<agent>')
      .action((ref, options) => act(ref, 'resume', {}, options)),
    verb('terminate', 'Terminate an agent, for good.', ['agent terminate Kit'])
      .argument('<agent>')
      .action((ref, options) => act(ref, 'terminate', {}, options)),
    verb('invoke', 'Wake an agent now.', ['agent invoke Kit', 'agent invoke Kit --issue TER-6 --reason "Try again."'])
      .argument('<agent>')
      .option('--issue <issue>', 'what it is to look at first')
      .option('--reason <text>')
      .action(invoke),
    verb('rehearse', 'Say what the next run would be, without running it.', [
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
      .option('--create <name>', 'make a key and print it, once')
      .option('--revoke <key>', 'by its id')
      .action(keys),
  ])

async function listAll(options: Options & { status?: string }): Promise<void> {
  const { client, path } = await inCompany(options)
  const agents: Agent[] = await list(client, `${path}/agents`, { limit: 1000, status: options.status })
  const names = new Map(agents.map((agent) => [agent.id, agent.name]))
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
  const id = await findId(options, 'agent', ref)
  const agent: Agent = await clientOf(options).request('GET', `/api/agents/${id}`)
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
  return given({
    role,
    title,
    reportsTo: reportsTo === undefined ? undefined : await findId(options, 'agent', reportsTo),
    adapterType: adapter,
    adapterConfig: config === undefined ? undefined : jsonOf(config),
    budgetMonthlyCents: budget === undefined ? undefined : centsOf(budget),
  })
}

async function create(name: string, options: Change): Promise<void> {
  const { client, path } = await inCompany(options)
  const agent: Agent = await client.request('POST', `${path}/agents`, { name, ...(await changeOf(options)) })
  show(options, agent, () => describe(agent))
}

async function update(ref: string, options: Change): Promise<void> {
  const id = await findId(options, 'agent', ref)
  const body = { ...given({ name: options.name }), ...(await changeOf(options)) }
  const agent: Agent = await clientOf(options).request('PATCH', `/api/agents/${id}`, body)
  show(options, agent, () => describe(agent))
}

async function act(ref: string, does: string, body: object, options: Options): Promise<void> {
  const id = await findId(options, 'agent', ref)
  const agent: Agent = await clientOf(options).request('POST', `/api/agents/${id}/${does}`, body)
  show(options, agent, () => `${agent.name} is ${words(agent.status)}.`)
}

async function invoke(ref: string, options: Options & { issue?: string; reason?: string }): Promise<void> {
  const id = await findId(options, 'agent', ref)
  const body = given({ issueId: options.issue, reason: options.reason })
  const wake = await clientOf(options).request('POST', `/api/agents/${id}/wakeup`, body)
  show(options, wake, () => `${plain(ref)} is to run${wake.notBefore ? ` at ${localTime(wake.notBefore)}` : ' now'}.`)
}

async function keys(ref: string, options: Options & { create?: string; revoke?: string }): Promise<void> {
  const path = `/api/agents/${await findId(options, 'agent', ref)}/keys`
  const client = clientOf(options)
  if (options.create !== undefined) {
    const key = await client.request('POST', path, { name: options.create })
    return show(options, key, () => `${paint('strong', key.token)}\nThis is the only time that it is shown.`)
  }
  if (options.revoke !== undefined) {
    const key = await client.request('DELETE', `${path}/${await keyId(client, path, options.revoke)}`)
    return show(options, key, () => `The key ${key.name} is revoked.`)
  }
  const all: Agent[] = await client.request('GET', path)
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

async function keyId(client: Client, path: string, ref: string): Promise<string> {
  const all: Agent[] = await client.request('GET', path)
  return all.find((key) => key.id.endsWith(ref) || key.name === ref)?.id ?? ref
}
