import { ADAPTER_TYPES } from '../../../adapter/types.ts'
import type { BodyOf, ResponseOf } from '../../client/types.ts'
import { placeOf } from '../../run-place.ts'
import { asStarted, programName } from '../command/as-started.ts'
import { choice, choices, clearable, dollars, json, LIMIT, longText, many, reference, text } from '../command/flag.ts'
import { ago, fields, localTime, money, oneLine, plain, shortId, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, edit, list, noun, remove, verb, view } from '../command/verb.ts'
import { approveConfigurationCommand } from './agent-approve.ts'
import { keysCommand } from './agent-keys.ts'
import { heldLines } from './held.ts'

type Agent = ResponseOf<'GET /api/agents/:agentId'>
type NewAgent = BodyOf<'POST /api/companies/:companyId/agents'>

const STATUSES = ['idle', 'running', 'paused', 'error', 'pending_approval', 'terminated'] as const

const CHANGE = {
  role: text('--role <role>', 'such as ceo, manager, engineer'),
  title: clearable(text('--title <title>')),
  reportsTo: clearable(reference('agent', '--reports-to <agent>', 'its manager')),
  capabilities: clearable(longText('-d, --capabilities <text>')),
  adapterType: choice('--adapter <type>', ADAPTER_TYPES, 'the program; of a new agent by default runtimeA_local'),
  adapterConfig: json<NonNullable<NewAgent['adapterConfig']>>('--config <json>', 'the adapterConfig'),
  runtimeConfig: json<NonNullable<NewAgent['runtimeConfig']>>('--runtime <json>', 'the runtimeConfig, with the timer'),
  desiredSkills: many(text('--skills <list>', 'keys of skills, separated by commas')),
  budgetMonthlyCents: dollars('--budget <dollars>', 'a month; none is no limit'),
}

const theAgent = async (scope: Scope, ref: string) => ({ agentId: await scope.find('agent', ref) })

const getAgent = async (scope: Scope, [ref]: readonly [string]) =>
  scope.client.request('GET /api/agents/:agentId', { params: await theAgent(scope, ref) })

const budgetOf = ({ budgetMonthlyCents }: Pick<Agent, 'budgetMonthlyCents'>) =>
  budgetMonthlyCents === 0 ? 'no limit' : money(budgetMonthlyCents)

/** Returns why an agent cannot work, or null. */
const reasonOf = (agent: Pick<Agent, 'pauseMessage' | 'errorReason' | 'heldUntil' | 'heldBecause'>) =>
  agent.pauseMessage ??
  agent.errorReason ??
  (agent.heldUntil === null ? null : `held until ${localTime(agent.heldUntil)}: ${agent.heldBecause}`)

/** Returns, by agent id, where the live runs in placements execute, or why they wait. */
async function placesOfLiveRuns(scope: Scope): Promise<Map<string, string | null>> {
  const params = await scope.inCompany()
  const runs = await scope.client.request('GET /api/companies/:companyId/live-runs', { params, query: { limit: 1000 } })
  return new Map(runs.map((run) => [run.agentId, placeOf(run)]))
}

/** A held agent has the status idle, but does not run. */
const statusOf = ({ status, pauseReason, heldUntil }: Pick<Agent, 'status' | 'pauseReason' | 'heldUntil'>) =>
  heldUntil !== null && status === 'idle' ? 'held' : words(status) + (pauseReason ? ` (${pauseReason})` : '')

const describe = (agent: Agent) =>
  fields([
    ['Name', agent.name],
    ['Role', [agent.role, agent.title].filter(Boolean).join(', ')],
    ['Status', statusOf(agent)],
    ['Because', reasonOf(agent)],
    ['Manager', agent.chainOfCommand?.[0]?.name],
    ['Adapter', agent.adapterType],
    ['Config', JSON.stringify(agent.adapterConfig)],
    ['Runtime', JSON.stringify(agent.runtimeConfig)],
    [
      'Approved',
      agent.configApproved ? null : asStarted('no: its runs are restricted; see `service agent approve-configuration`'),
    ],
    ['Skills', agent.desiredSkills.join(', ')],
    ['This month', `${money(agent.spentMonthlyCents)} of ${budgetOf(agent)}`],
    ['Last run', agent.lastHeartbeatAt && localTime(agent.lastHeartbeatAt)],
    ['Id', agent.id],
  ])

const isNow = (agent: Agent) => `${agent.name} is ${words(agent.status)}.`

export const agentCommand = () =>
  noun('agent', 'Agents: configured programs that do the work.', [
    list({
      summary: 'List the agents.',
      flags: { status: choices('--status <list>', STATUSES), limit: { ...LIMIT.limit, default: '500' } },
      examples: ['agent list', 'agent list --status paused,error', 'agent list --json=name,status'],
      empty: 'There are no agents. Create one with `service agent create`.',
      page: 'agents',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/agents', { params: await scope.inCompany(), query }),
      async columns(scope) {
        const nameOf = await scope.agentNames()
        return {
          Name: ({ name }) => name,
          Role: ({ role }) => role,
          Status: statusOf,
          Manager: ({ reportsTo }) => nameOf(reportsTo),
          Spent: ({ spentMonthlyCents }) => money(spentMonthlyCents),
          Budget: budgetOf,
          'Last run': ({ lastHeartbeatAt }) => ago(lastHeartbeatAt),
        }
      },
      async notes(agents, scope) {
        const placeOfAgent = await placesOfLiveRuns(scope)
        return agents.flatMap((agent) => {
          const note = reasonOf(agent) ?? placeOfAgent.get(agent.id)
          return note ? [oneLine(`${agent.name}: ${note}`)] : []
        })
      },
    }),
    view({
      summary: 'Show an agent.',
      args: ['<agent>'],
      examples: ['agent view Ada'],
      page: ({ urlKey }) => `agents/${urlKey}`,
      load: getAgent,
      text: describe,
    }),
    create({
      summary: 'Create an agent.',
      args: ['<name>'],
      flags: CHANGE,
      examples: [
        'agent create Otto --role engineer --budget 20',
        'agent create Nora --reports-to Ada --adapter process --config \'{"command":"make"}\'',
      ],
      send: async (scope, [name], body) =>
        scope.client.request('POST /api/companies/:companyId/agents', {
          params: await scope.inCompany(),
          body: { ...body, name },
        }),
      text: describe,
    }),
    create({
      name: 'hire',
      summary: 'Hire an agent. The board approves it if that is required.',
      args: ['<name>'],
      flags: { ...CHANGE, sourceIssueId: text('--issue <issue>', 'the issue that the hire is for') },
      examples: ['agent hire Nora --role researcher --reports-to Ada'],
      send: async (scope, [name], body) =>
        scope.client.request('POST /api/companies/:companyId/agent-hires', {
          params: await scope.inCompany(),
          body: { ...body, name },
        }),
      text: ({ agent, approval }) =>
        `${agent.name} is ${approval ? words(agent.status) : 'hired'}.${approval ? ` Approve it with: ${programName()} approval approve ${shortId(approval.id)}` : ''}`,
    }),
    edit({
      summary: 'Change an agent.',
      args: ['<agent>'],
      flags: { name: text('--name <name>'), ...CHANGE },
      examples: [
        'agent edit Kit --title "Chart maker" --budget 25',
        'agent edit Kit --runtime \'{"heartbeat":{"enabled":true,"intervalSec":3600}}\'',
      ],
      load: getAgent,
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/agents/:agentId', { params: await theAgent(scope, ref), body }),
      text: describe,
    }),
    act({
      name: 'pause',
      summary: 'Pause an agent and stop its runs.',
      args: ['<agent>'],
      flags: { reason: text('--reason <text>') },
      examples: ['agent pause Kit --reason "Not today."'],
      send: async (scope, [ref], body) =>
        scope.client.request('POST /api/agents/:agentId/pause', { params: await theAgent(scope, ref), body }),
      text: isNow,
    }),
    act({
      name: 'resume',
      summary: 'Resume a paused agent, or one in error.',
      args: ['<agent>'],
      examples: ['agent resume Kit'],
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/agents/:agentId/resume', { params: await theAgent(scope, ref), body: {} }),
      text: isNow,
    }),
    remove({
      name: 'terminate',
      summary: 'Terminate an agent. This cannot be undone.',
      args: ['<agent>'],
      examples: ['agent terminate Kit --yes'],
      ask: async (args, scope) => `Terminate ${(await getAgent(scope, args)).name}? This cannot be undone.`,
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/agents/:agentId/terminate', { params: await theAgent(scope, ref), body: {} }),
      text: isNow,
    }),
    act({
      name: 'invoke',
      summary: 'Wake an agent now.',
      args: ['<agent>'],
      flags: {
        issueId: text('--issue <issue>', 'the issue to start with'),
        reason: text('--reason <text>'),
      },
      examples: ['agent invoke Kit', 'agent invoke Kit --issue TER-6 --reason "Try again."'],
      send: async (scope, [ref], body) =>
        scope.client.request('POST /api/agents/:agentId/wakeup', { params: await theAgent(scope, ref), body }),
      async text({ agentId, heldBy }, scope) {
        const name = (await scope.agentNames())(agentId)
        return heldBy.length === 0 ? `${plain(name)} runs now.` : heldLines(name, heldBy).join('\n')
      },
    }),
    verb({
      name: 'rehearse',
      summary: 'Show the plan of the next run without starting it.',
      args: ['<agent>'],
      flags: { issueId: text('--issue <issue>', 'as if it were woken on this issue') },
      examples: ['agent rehearse Kit', 'agent rehearse Kit --issue TER-6 --json'],
      run: async (scope, [ref], body) =>
        (await import('./agent-rehearse.ts')).rehearse(scope, await theAgent(scope, ref), body),
    }),
    list({
      name: 'inbox',
      summary: 'List the open issues of an agent in the recommended order.',
      args: ['<agent>'],
      examples: ['agent inbox Kit'],
      empty: 'It has no open issues.',
      load: async (scope, _, [ref]) =>
        scope.client.request('GET /api/companies/:companyId/issues', {
          params: await scope.inCompany(),
          query: {
            assigneeAgentId: await scope.find('agent', ref),
            status: 'in_progress,todo,in_review,blocked',
            limit: 100,
          },
        }),
      columns: {
        Issue: ({ identifier }) => identifier,
        Title: ({ title }) => title,
        Status: ({ status }) => words(status),
        Priority: ({ priority }) => priority,
        Changed: ({ updatedAt }) => ago(updatedAt),
      },
    }),
    list({
      name: 'skills',
      summary: 'List the skills of an agent.',
      args: ['<agent>'],
      examples: ['agent skills Kit'],
      empty: 'It has no skills. Set them with `service agent edit AGENT --skills KEY,KEY`.',
      load: async (scope, _, [ref]) => {
        const { desiredSkills } = await getAgent(scope, [ref])
        const params = await scope.inCompany()
        const all = await scope.client.request('GET /api/companies/:companyId/skills', {
          params,
          query: { limit: 1000 },
        })
        return all.filter(({ key }) => desiredSkills.includes(key))
      },
      columns: {
        Skill: ({ key }) => key,
        Name: ({ name }) => name,
        Text: ({ isReference }) => (isReference ? asStarted('not here; run `service skill fetch`') : 'stored'),
      },
    }),
    list({
      name: 'sessions',
      summary: 'List the sessions that later runs of an agent resume.',
      args: ['<agent>'],
      examples: ['agent sessions Kit'],
      empty: 'It has no sessions.',
      load: async (scope, _, [ref]) =>
        (await scope.client.request('GET /api/agents/:agentId/runtime-state', { params: await theAgent(scope, ref) }))
          .sessions,
      columns: {
        Session: ({ sessionId }) => sessionId,
        Issue: ({ issueId }) => issueId && shortId(issueId),
        Folder: ({ cwd }) => cwd,
        Used: ({ updatedAt }) => ago(updatedAt),
      },
    }),
    list({
      name: 'revisions',
      summary: "List the changes of an agent's configuration, the latest first.",
      args: ['<agent>'],
      flags: LIMIT,
      examples: ['agent revisions Kit'],
      empty: 'Its configuration was never changed.',
      load: async (scope, query, [ref]) =>
        scope.client.page('GET /api/agents/:agentId/config-revisions', { params: await theAgent(scope, ref), query }),
      columns: {
        Id: ({ id }) => shortId(id),
        Time: ({ createdAt }) => localTime(createdAt),
        Source: ({ source }) => source,
        Changed: ({ changedKeys }) => changedKeys.join(', '),
      },
    }),
    act({
      name: 'rollback',
      summary: 'Restore the configuration of an agent to a revision.',
      args: ['<agent>', '<revision>'],
      examples: ['agent rollback Kit first'],
      note: 'The revision is its id, as `agent revisions` prints it, or `first`.',
      async send(scope, [ref, revision]) {
        const params = await theAgent(scope, ref)
        const query = { limit: 1000 }
        const all = await scope.client.request('GET /api/agents/:agentId/config-revisions', { params, query })
        const found = revision === 'first' ? all.at(-1) : all.find(({ id }) => id.endsWith(revision))
        return scope.client.request('POST /api/agents/:agentId/config-revisions/:revisionId/rollback', {
          params: { ...params, revisionId: found?.id ?? revision },
          body: {},
        })
      },
      text: describe,
    }),
    approveConfigurationCommand(),
    act({
      name: 'permissions',
      summary: 'Show or set the permissions of an agent.',
      args: ['<agent>'],
      flags: {
        canCreateAgents: { ...choice('--create-agents <answer>', ['yes', 'no']), parse: isYes },
        canAssignTasks: { ...choice('--assign-tasks <answer>', ['yes', 'no']), parse: isYes },
      },
      examples: ['agent permissions Kit', 'agent permissions Ada --create-agents no'],
      send: async (scope, [ref], body) =>
        Object.keys(body).length === 0
          ? getAgent(scope, [ref])
          : scope.client.request('PATCH /api/agents/:agentId/permissions', {
              params: await theAgent(scope, ref),
              body,
            }),
      text: ({ permissions }) =>
        fields([
          ['Create agents', permissions.canCreateAgents === false ? 'no' : 'yes, as a manager or CEO'],
          ['Assign tasks', permissions.canAssignTasks === false ? 'no' : 'yes'],
        ]),
    }),
    keysCommand(theAgent),
  ])

function isYes(response: string): boolean {
  return response === 'yes'
}
