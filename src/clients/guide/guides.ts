import type { Adapter } from '../../adapter/adapter.ts'
import { ADAPTERS } from '../../adapter/registry.ts'
import type { Endpoint } from '../../http/route.ts'
import { NewAgent } from '../../organization/agent/agent.ts'
import { AGENT_ICONS } from '../../organization/agent/icons.ts'
import { RuntimeConfig } from '../../organization/agent/runtime-config.ts'
import { ADAPTER_EXAMPLES, BOARD, CHANGING, HIRING, hireWith, toCurl } from './examples.ts'
import { keysOf, listKeys } from './keys.ts'

/** The guide to hiring and configuring agents, for a reader with nothing else at hand. */
export const configurationGuide = (endpoints: readonly Endpoint[]): string =>
  joined([
    '# Agent configuration',
    `This is how to hire and configure agents over the HTTP API. It is generated from what the service accepts, so it is never out of date. In a run, the environment has SERVICE_API_URL, SERVICE_API_KEY, SERVICE_AGENT_ID and SERVICE_COMPANY_ID, and SERVICE_TASK_ID when there is an issue. Everywhere else, set them yourself.`,
    RULES,
    '## Step by step',
    'AGENT_ID and APPROVAL_ID stand for ids from the answers before. Leave sourceIssueId out when no issue motivated the hire.',
    ...HIRING.map(toCurl),
    '## After the hire',
    ...CHANGING.map(toCurl),
    '## What only the board does',
    'In local mode the board sends no key.',
    ...BOARD.map(toCurl),
    '## The body of a hire or a creation',
    'Any other key is refused with 400, which names it.',
    listKeys(keysOf(NewAgent)),
    '## runtimeConfig',
    'It has one key, `heartbeat`, an object of:',
    heartbeatKeys(),
    '## Adapters',
    'adapterType names one of these; adapterConfig takes its keys and no others. Each has a guide of its own, with a worked request.',
    ...ADAPTERS.map((adapter) => adapterSection(adapter, '###')),
    '## Endpoints',
    endpointList(endpoints),
  ])

/** The guide to one adapter. */
export const adapterGuide = (adapter: Adapter, endpoints: readonly Endpoint[]): string =>
  joined([
    adapterSection(adapter, '#'),
    RULES,
    '## A worked request',
    ADAPTER_EXAMPLES[adapter.type]?.note ?? '',
    toCurl(hireWith(adapter.type)),
    '## runtimeConfig',
    'When the agent runs. It has one key, `heartbeat`, an object of:',
    heartbeatKeys(),
    '## More',
    'GET /llms/agent-configuration.txt has every key of a hire and the other adapters; GET /llms/agent-icons.txt the icons.',
    endpointList(endpoints),
  ])

export const iconGuide = (): string =>
  joined([
    '# Agent icons',
    'An agent’s `icon` is one of these names, exactly as written, or null:',
    AGENT_ICONS.map((name) => `- ${name}`).join('\n'),
  ])

const RULES = `## Rules

- Managers (agents to whom somebody reports), the CEO and the board hire, with POST /api/companies/:companyId/agent-hires. Any other agent gets a 403 that names its manager: ask them in a comment.
- The answer of a hire is {"agent": {"id", "status", ...}, "approval": null or {"id", "status": "pending", ...}}.
- When \`approval\` is not null, the new agent is \`pending_approval\`: it runs nothing and can be assigned nothing until the board approves. You are woken with SERVICE_APPROVAL_ID when it is decided. Do not hire the same agent again meanwhile.
- A hire by an agent always needs that approval when it names what runs (command, args, extraArgs, env, url, headers, mcpServers, or the adapters process and http), makes a CEO, or asks for a budget above your own.
- By default the new agent reports to you and has your budget. budgetMonthlyCents is US cents a month; 0 is no limit.
- An agent does not change adapterType, adapterConfig or runtimeConfig of anyone later, except by the instructions path. The board does.
- Never put a secret in adapterConfig. The board stores it by name, and env refers to it: {"$secret": "NAME"}.
- Prefer wakeOnDemand to a timer: every run costs. Under 60 seconds a timer costs a lot.
- An error is {"error": "what to do", "code": "...", "details": {"fields": [{"path", "message"}]}}: mend the fields it names, and do not repeat a request unchanged.`

const adapterSection = (adapter: Adapter, heading: string): string =>
  joined([
    `${heading} ${adapter.type}`,
    [
      adapter.summary,
      adapter.installHint,
      adapter.resumes && 'The next run on the same issue goes on with the session of the last.',
      `Guide: GET /llms/agent-configuration/${adapter.type}.txt`,
    ]
      .filter(Boolean)
      .join(' '),
    'Keys of adapterConfig:',
    listKeys(keysOf(adapter.config)),
  ]).trimEnd()

const heartbeatKeys = () => listKeys(keysOf(RuntimeConfig.entries.heartbeat.wrapped))

/** The endpoints that have to do with hiring and configuring, by their ids. */
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
    if (!found) throw new Error(`The guide names ${id}, which is no endpoint.`)
    const { method, path, summary, who } = found
    return `- ${method} ${path}: ${summary}. For ${who.map((one) => one.name).join(', ')}.`
  }).join('\n')
}

const joined = (parts: readonly string[]) => `${parts.filter((part) => part !== '').join('\n\n')}\n`
