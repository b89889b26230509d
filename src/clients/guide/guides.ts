import type { Adapter } from '../../adapter/adapter.ts'
import { ADAPTERS } from '../../adapter/registry.ts'
import type { Endpoint } from '../../http/route.ts'
import { NewAgent } from '../../organization/agent/agent.ts'
import { AGENT_ICONS } from '../../organization/agent/icons.ts'
import { RuntimeConfig } from '../../organization/agent/runtime-config.ts'
import { ADAPTER_EXAMPLES, BOARD, CHANGING, HIRING, hireWith, toCurl } from './examples.ts'
import { keysOf, listKeys } from './keys.ts'

/** Returns the guide to hiring and configuring agents. It is complete without other documentation. */
export const configurationGuide = (endpoints: readonly Endpoint[]): string =>
  joined([
    '# Agent configuration',
    `This guide describes how to hire and configure agents with the HTTP API. It is generated from the schemas of this server, so it is always current. In a run, the environment contains SERVICE_API_URL, SERVICE_API_KEY, SERVICE_AGENT_ID and SERVICE_COMPANY_ID, and SERVICE_TASK_ID if the run has an issue. Elsewhere, set these variables yourself.`,
    RULES,
    '## Step by step',
    'AGENT_ID and APPROVAL_ID stand for ids from earlier responses. Omit sourceIssueId if the hire is not related to an issue.',
    ...HIRING.map(toCurl),
    '## After the hire',
    ...CHANGING.map(toCurl),
    '## Requests of the board',
    'In local mode the board sends no key.',
    ...BOARD.map(toCurl),
    '## The body of a hire or a creation',
    'The server refuses any other key with status 400.',
    listKeys(keysOf(NewAgent)),
    '## runtimeConfig',
    'It has one key, `heartbeat`, an object with these keys:',
    heartbeatKeys(),
    '## Adapters',
    'adapterType is one of the following. adapterConfig accepts only the keys of its adapter. Each adapter has its own guide with an example request.',
    ...ADAPTERS.map((adapter) => adapterSection(adapter, '###')),
    '## Endpoints',
    endpointList(endpoints),
  ])

/** Returns the guide to one adapter. */
export const adapterGuide = (adapter: Adapter, endpoints: readonly Endpoint[]): string =>
  joined([
    adapterSection(adapter, '#'),
    RULES,
    '## Example request',
    ADAPTER_EXAMPLES[adapter.type]?.note ?? '',
    toCurl(hireWith(adapter.type)),
    '## runtimeConfig',
    'runtimeConfig decides when the agent runs. It has one key, `heartbeat`, an object with these keys:',
    heartbeatKeys(),
    '## More',
    'GET /llms/agent-configuration.txt lists all keys of a hire and the other adapters. GET /llms/agent-icons.txt lists the icons.',
    endpointList(endpoints),
  ])

/** Returns the list of agent icons. */
export const iconGuide = (): string =>
  joined([
    '# Agent icons',
    'An agent’s `icon` is one of these names, exactly as written, or null:',
    AGENT_ICONS.map((name) => `- ${name}`).join('\n'),
  ])

const RULES = `## Rules

- Managers (agents that have reports), the CEO and the board can hire with POST /api/companies/:companyId/agent-hires. Any other agent receives a 403 error that names its manager. Ask that manager in a comment.
- The response to a hire is {"agent": {"id", "status", ...}, "approval": null or {"id", "status": "pending", ...}}.
- If \`approval\` is not null, the new agent is \`pending_approval\`: it cannot run and cannot be assigned issues until the board approves it. You are woken with SERVICE_APPROVAL_ID when the board has decided. Do not hire the same agent again meanwhile.
- A hire by an agent always needs that approval if it sets what runs (command, args, extraArgs, env, url, headers, mcpServers, or the adapters process and http), if the new agent is a CEO, or if its budget is above yours.
- By default the new agent reports to you and has your budget. budgetMonthlyCents is in US cents per month; 0 means no limit.
- Agents cannot change adapterType, adapterConfig or runtimeConfig afterwards, except for the instructions path. Only the board can.
- Never put a secret in adapterConfig. The board stores it under a name, and env refers to it: {"$secret": "NAME"}.
- Prefer wakeOnDemand to a timer, because every run costs money. A timer below 60 seconds is expensive.
- An error is {"error": "...", "code": "...", "details": {"fields": [{"path", "message"}]}}. Correct the named fields before you send the request again.`

const adapterSection = (adapter: Adapter, heading: string): string =>
  joined([
    `${heading} ${adapter.type}`,
    [
      adapter.summary,
      adapter.installHint,
      adapter.resumes && 'The next run on the same issue resumes the session of the previous run.',
      `Guide: GET /llms/agent-configuration/${adapter.type}.txt`,
    ]
      .filter(Boolean)
      .join(' '),
    'Keys of adapterConfig:',
    listKeys(keysOf(adapter.config)),
  ]).trimEnd()

const heartbeatKeys = () => listKeys(keysOf(RuntimeConfig.entries.heartbeat.wrapped))

/** The ids of the endpoints for hiring and configuring agents. */
const ENDPOINT_IDS = [
  'agents.me',
  'agents.list',
  'agents.org',
  'agents.get',
  'agents.hire',
  'agents.create',
  'agents.update',
  'agents.setInstructionsPath',
  'agents.configuration',
  'agents.configurations',
  'agents.listRevisions',
  'agents.rollback',
  'agents.syncSkills',
  'skills.list',
  'skills.get',
  'skills.file',
  'skills.import',
  'approvals.get',
  'guides.agentConfiguration',
  'guides.adapter',
  'guides.agentIcons',
]

function endpointList(endpoints: readonly Endpoint[]): string {
  return ENDPOINT_IDS.map((id) => {
    const found = endpoints.find((endpoint) => endpoint.id === id)
    if (!found) throw new Error(`The guide names ${id}, which is not an endpoint.`)
    const { method, path, summary, who } = found
    return `- ${method} ${path}: ${summary}. Callers: ${who.map((one) => one.name).join(', ')}.`
  }).join('\n')
}

const joined = (parts: readonly string[]) => `${parts.filter((part) => part !== '').join('\n\n')}\n`
