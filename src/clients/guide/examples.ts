/**
 * The worked requests of the guides. A test takes them out of the guides'
 * text, lets a shell read them, and sends each to the app, in their order.
 */
export interface Example {
  title: string
  method: string
  /** With shell variables. */
  path: string
  body?: unknown
  /** Who asks: an agent sends its key; the board of a local server sends none. */
  as?: 'agent' | 'board'
}

const LOCAL_NOTE =
  'Put the folder of your project for /srv/project, or leave cwd out: the agent then works in the workspace of the project of each issue. A folder that does not exist makes every run fail. Leave model out for the choice of the program. instructionsFilePath, if you set it, names a markdown file that exists.'

/** A configuration for each adapter, as an agent would ask for it. */
export const ADAPTER_EXAMPLES: Record<string, { adapterConfig: Record<string, unknown>; note: string }> = {
  runtimeA_local: { adapterConfig: { cwd: '/srv/project', model: 'sonnet', maxTurns: 80 }, note: LOCAL_NOTE },
  runtimeB_local: { adapterConfig: { cwd: '/srv/project', timeoutSec: 1800 }, note: LOCAL_NOTE },
  process: {
    adapterConfig: { command: 'python3', args: ['/srv/agents/report.py'], cwd: '/srv/agents', timeoutSec: 600 },
    note: 'An agent that asks for this always needs the approval of the board, since it names what runs.',
  },
  http: {
    adapterConfig: { url: 'https://agents.example.com/wake', timeoutSec: 30 },
    note: 'An agent that asks for this always needs the approval of the board. The agent behind the URL works with a key of its own (POST /api/agents/:agentId/keys, by the board).',
  },
}

/** From knowing nothing to an agent that works. */
export const HIRING: readonly Example[] = [
  { title: 'Who is there already', method: 'GET', path: '/api/companies/$SERVICE_COMPANY_ID/org' },
  {
    title: 'How the others are configured, to do likewise',
    method: 'GET',
    path: '/api/companies/$SERVICE_COMPANY_ID/agent-configurations',
  },
  { title: 'Which skills there are', method: 'GET', path: '/api/companies/$SERVICE_COMPANY_ID/skills' },
  {
    title: 'Teach the company a skill, if one is missing',
    method: 'POST',
    path: '/api/companies/$SERVICE_COMPANY_ID/skills/import',
    body: {
      files: {
        'SKILL.md':
          '---\nname: weekly-report\ndescription: How to write the weekly report. Use it on Fridays.\n---\n\n# Weekly report\n\nThree lines: done, next, blocked.\n',
      },
    },
  },
  {
    title:
      'Hire somebody who reports to you and is woken when there is work. The answer has the id of the new agent in agent.id, and approval.id if the board has to approve',
    method: 'POST',
    path: '/api/companies/$SERVICE_COMPANY_ID/agent-hires',
    body: {
      name: 'Nora',
      role: 'researcher',
      title: 'Researcher',
      icon: 'search',
      capabilities: 'Finds out how others solve a problem and writes it up with sources.',
      adapterType: 'runtimeA_local',
      runtimeConfig: { heartbeat: { enabled: false, wakeOnDemand: true } },
      desiredSkills: ['weekly-report'],
      budgetMonthlyCents: 2000,
      sourceIssueId: '$SERVICE_TASK_ID',
    },
  },
  {
    title: 'See how the approval stands (only if the answer had one). You are woken when it is decided',
    method: 'GET',
    path: '/api/approvals/$APPROVAL_ID',
  },
  {
    title: 'Hire somebody who also runs on a schedule, every six hours, unless nothing has changed',
    method: 'POST',
    path: '/api/companies/$SERVICE_COMPANY_ID/agent-hires',
    body: {
      name: 'Otto',
      role: 'engineer',
      icon: 'wrench',
      capabilities: 'Keeps the builds green.',
      adapterType: 'runtimeB_local',
      runtimeConfig: { heartbeat: { enabled: true, intervalSec: 21600, skipIfIdle: true } },
      budgetMonthlyCents: 1500,
    },
  },
]

/** What comes after a hire. */
export const CHANGING: readonly Example[] = [
  {
    title: 'Say where the instructions of an agent are (yours, or those of one below you): a markdown file that exists',
    method: 'PATCH',
    path: '/api/agents/$AGENT_ID/instructions-path',
    body: { path: '/srv/project/agents/nora/AGENTS.md' },
  },
  {
    title: 'Give an agent below you exactly these skills, and write their files',
    method: 'POST',
    path: '/api/agents/$AGENT_ID/skills/sync',
    body: { desiredSkills: ['weekly-report'] },
  },
  {
    title: 'Read what an agent is configured to do, without its secrets',
    method: 'GET',
    path: '/api/agents/$AGENT_ID/configuration',
  },
  { title: 'See what was changed, and by whom', method: 'GET', path: '/api/agents/$AGENT_ID/config-revisions' },
]

/** What only the board does; in local mode it sends no key. */
export const BOARD: readonly Example[] = [
  {
    title: 'Change the configuration of an agent: keys are merged, and null removes one',
    method: 'PATCH',
    path: '/api/agents/$AGENT_ID',
    body: {
      adapterConfig: { model: null, timeoutSec: 1800, env: { REPORTS: '/srv/reports' } },
      runtimeConfig: { heartbeat: { enabled: true, intervalSec: 3600 } },
    },
    as: 'board',
  },
  {
    title: 'Let it run now',
    method: 'POST',
    path: '/api/agents/$AGENT_ID/heartbeat/invoke',
    as: 'board',
  },
]

/** A hire with one adapter. */
export const hireWith = (adapterType: string): Example => ({
  title: `Hire an agent that runs by ${adapterType}`,
  method: 'POST',
  path: '/api/companies/$SERVICE_COMPANY_ID/agent-hires',
  body: {
    name: 'Nora',
    role: 'researcher',
    capabilities: 'Finds things out.',
    adapterType,
    adapterConfig: ADAPTER_EXAMPLES[adapterType]?.adapterConfig ?? {},
    runtimeConfig: { heartbeat: { enabled: false, wakeOnDemand: true } },
  },
})

/** A request as a shell command. What is in single quotes is JSON with no single quote in it. */
export function toCurl({ title, method, path, body, as = 'agent' }: Example): string {
  const lines = [
    `curl -sS -X ${method} "$SERVICE_API_URL${path}"`,
    ...(as === 'agent' ? [`  -H "Authorization: Bearer $SERVICE_API_KEY"`] : []),
    ...(body === undefined ? [] : ['  -H "Content-Type: application/json"', `  -d '${toShellJson(body)}'`]),
  ]
  return `${title}:\n\n\`\`\`sh\n${lines.join(' \\\n')}\n\`\`\``
}

/** JSON for between single quotes: a quote is escaped, and a variable stands outside of them. */
export const toShellJson = (body: unknown, indent = 2) =>
  JSON.stringify(body, null, indent)
    .replaceAll("'", '\\u0027')
    .replaceAll(/\$([A-Z_]+)/g, `'"$$$1"'`)
