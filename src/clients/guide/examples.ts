/**
 * The example requests of the guides. A test extracts them from the guides'
 * text, lets a shell parse them, and sends each to the app, in order.
 */
export interface Example {
  title: string
  method: string
  /** With shell variables. */
  path: string
  body?: unknown
  /** The caller: an agent sends its key, and the board of a local server sends no credential. */
  as?: 'agent' | 'board'
}

const LOCAL_NOTE =
  "Replace /srv/project by the folder of your project, or omit cwd: the agent then works in the workspace of each issue's project. A folder that does not exist makes every run fail. Omit model to use the default of the program. If you set instructionsFilePath, it must name an existing markdown file."

/** An example configuration for each adapter, as an agent would request it. */
export const ADAPTER_EXAMPLES: Record<string, { adapterConfig: Record<string, unknown>; note: string }> = {
  runtimeA_local: { adapterConfig: { cwd: '/srv/project', model: 'sonnet', maxTurns: 80 }, note: LOCAL_NOTE },
  runtimeB_local: { adapterConfig: { cwd: '/srv/project', timeoutSec: 1800 }, note: LOCAL_NOTE },
  process: {
    adapterConfig: { command: 'python3', args: ['/srv/agents/report.py'], cwd: '/srv/agents', timeoutSec: 600 },
    note: 'If an agent requests this, the hire always needs the approval of the board, because it names a command.',
  },
  http: {
    adapterConfig: { url: 'https://agents.example.com/wake', timeoutSec: 30 },
    note: 'If an agent requests this, the hire always needs the approval of the board. The agent behind the URL can use its own API key, which the board creates with POST /api/agents/:agentId/keys.',
  },
}

/** The steps of a hire. */
export const HIRING: readonly Example[] = [
  { title: 'List the present agents', method: 'GET', path: '/api/companies/$SERVICE_COMPANY_ID/org' },
  {
    title: 'Read how the other agents are configured',
    method: 'GET',
    path: '/api/companies/$SERVICE_COMPANY_ID/agent-configurations',
  },
  { title: 'List the skills', method: 'GET', path: '/api/companies/$SERVICE_COMPANY_ID/skills' },
  {
    title: 'Add a missing skill to the company',
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
      'Hire an agent that reports to you and is woken by its work. The response contains the id of the new agent in agent.id, and approval.id if the board must approve the hire',
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
    title: 'Get the status of the approval (if the response contained one). You are woken when it is decided',
    method: 'GET',
    path: '/api/approvals/$APPROVAL_ID',
  },
  {
    title: 'Hire an agent that also runs every six hours, unless nothing has changed',
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

/** Changes after a hire. */
export const CHANGING: readonly Example[] = [
  {
    title: 'Set the path of the instructions of an agent (you, or an agent below you). The markdown file must exist',
    method: 'PATCH',
    path: '/api/agents/$AGENT_ID/instructions-path',
    body: { path: '/srv/project/agents/nora/AGENTS.md' },
  },
  {
    title: 'Set the skills of an agent below you, and write their files',
    method: 'POST',
    path: '/api/agents/$AGENT_ID/skills/sync',
    body: { desiredSkills: ['weekly-report'] },
  },
  {
    title: 'Read the configuration of an agent, without its secrets',
    method: 'GET',
    path: '/api/agents/$AGENT_ID/configuration',
  },
  {
    title: 'List the changes of the configuration and their authors',
    method: 'GET',
    path: '/api/agents/$AGENT_ID/config-revisions',
  },
]

/** The requests that only the board may send. In local mode it sends no key. */
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
    title: 'Start a run now',
    method: 'POST',
    path: '/api/agents/$AGENT_ID/heartbeat/invoke',
    as: 'board',
  },
]

/** Returns the example of a hire with one adapter. */
export const hireWith = (adapterType: string): Example => ({
  title: `Hire an agent with the adapter ${adapterType}`,
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

/** Formats a request as a shell command. The body is JSON in single quotes. */
export function toCurl({ title, method, path, body, as = 'agent' }: Example): string {
  const lines = [
    `curl -sS -X ${method} "$SERVICE_API_URL${path}"`,
    ...(as === 'agent' ? [`  -H "Authorization: Bearer $SERVICE_API_KEY"`] : []),
    ...(body === undefined ? [] : ['  -H "Content-Type: application/json"', `  -d '${toShellJson(body)}'`]),
  ]
  return `${title}:\n\n\`\`\`sh\n${lines.join(' \\\n')}\n\`\`\``
}

/** Formats JSON for single quotes in a shell: it escapes single quotes, and closes the quotes around variables. */
export const toShellJson = (body: unknown, indent = 2) =>
  JSON.stringify(body, null, indent)
    .replaceAll("'", '\\u0027')
    .replaceAll(/\$([A-Z_]+)/g, `'"$$$1"'`)
