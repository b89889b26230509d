import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type OpenPage, seedDemo } from './page.ts'

/** A program that prints the output of a coding agent: tool calls, file changes, a failing test. */
const CODER = fileURLToPath(new URL('fixtures/coder.mjs', import.meta.url))

/** The duration of one step of a demo agent in milliseconds, after the company has enough content. */
const SLOW_MS = 120_000

/** The period at the normal pace before that, in milliseconds. */
const BEGINNING_MS = 3_500

export interface BusyCompany {
  id: string
  issuePrefix: string
  agent: { id: string; urlKey: string }
  run: { id: string }
  issue: { id: string; identifier: string }
  goal: { id: string }
  project: { id: string }
  /** Returns the URL of a page of `PAGES` in the company. */
  addressOf(page: string): string
}

/** Creates a busy company: finished issues, live runs, an approval, a failure and comments by people. */
export async function arrangeBusyCompany(opened: OpenPage): Promise<BusyCompany> {
  const { url } = opened
  // biome-ignore lint/suspicious/noExplicitAny: a few fields of many responses are read.
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const found = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(found)}`)
    return found
  }
  const id = await seedDemo(opened)
  const at = `/api/companies/${id}`
  let pending: { id: string }[] = []
  while (pending.length === 0) {
    await delay(100)
    pending = await call('GET', `${at}/approvals?status=pending`)
  }
  for (const approval of pending) await call('POST', `/api/approvals/${approval.id}/approve`, {})
  await delay(BEGINNING_MS)
  const agents = await call('GET', `${at}/agents`)
  const named = (name: string) => agents.find((agent: { name: string }) => agent.name === name)
  for (const agent of agents) {
    await call('PATCH', `/api/agents/${agent.id}`, { adapterConfig: { extraArgs: ['--pace', String(SLOW_MS)] } })
  }
  await call('PATCH', `${at}/budgets`, { budgetMonthlyCents: 5_000 })
  await call('PATCH', at, { requireBoardApprovalForNewAgents: true })
  await call('POST', `${at}/agent-hires`, {
    name: 'Otto',
    role: 'engineer',
    title: 'Engineer, quality',
    reportsTo: named('Mara').id,
    capabilities: 'Tests what the others hand in.',
    adapterType: 'runtimeA_local',
    adapterConfig: { command: 'claude', model: 'sonnet' },
    budgetMonthlyCents: 2_000,
  })
  await call('PATCH', at, { requireBoardApprovalForNewAgents: false })
  const nils = await call('POST', `${at}/agents`, {
    name: 'Nils',
    role: 'engineer',
    title: 'Engineer, release',
    reportsTo: named('Mara').id,
    adapterType: 'runtimeA_local',
    adapterConfig: { command: 'no-such-program' },
  })
  const bug = await call('POST', `${at}/labels`, { name: 'bug', color: '#d14343' })
  await call('POST', `${at}/labels`, { name: 'data', color: '#2f7dd1' })
  const reported = await call('POST', `${at}/issues`, {
    title: 'High water is an hour late after the clocks change',
    description: 'Since **Sunday** the page shows `14:12` where the printed table has `13:12`.',
    priority: 'critical',
    labelIds: [bug.id],
    assigneeAgentId: nils.id,
  })
  await call('POST', `/api/issues/${reported.id}/comments`, { body: '@Rhea which time zone does the source use?' })
  await call('POST', `${at}/issues`, { title: 'Offer the table as a calendar', status: 'backlog', priority: 'low' })
  const lena = await call('POST', `${at}/agents`, {
    name: 'Lena',
    role: 'engineer',
    title: 'Engineer, data',
    reportsTo: named('Mara').id,
    adapterType: 'runtimeA_local',
    adapterConfig: { command: CODER, env: { CODER_STAYS: '1' } },
  })
  await call('POST', `${at}/issues`, {
    title: 'Compare a year with the printed table',
    priority: 'high',
    assigneeAgentId: lena.id,
  })
  const webhook = await arrangeReceivers(call, at)
  await arrangeRest(call, at, { mara: named('Mara'), kit: named('Kit'), issueId: reported.id, url })
  await delay(1_500)
  const issues = await call('GET', `${at}/issues`)
  const live = await call('GET', `${at}/live-runs`)
  const all = await call('GET', `${at}/runs`)
  const { issuePrefix } = await call('GET', at)
  const [goal] = await call('GET', `${at}/goals`)
  const [project] = await call('GET', `${at}/projects`)
  const agent = named('Kit')
  const run = live.find((one: { agentId: string }) => one.agentId === lena.id) ?? live[0] ?? all[0]
  const issue = issues.find((one: { issueNumber: number }) => one.issueNumber === 3) ?? issues[0]
  const addressOf = (page: string) =>
    page
      .replace(':issue', issue.identifier)
      .replace(':agent', agent.urlKey)
      .replace(':run', run.id)
      .replace(':goal', goal.id)
      .replace(':project', project.id)
      .replace(':webhook', webhook.id)
  return { id, issuePrefix, agent, run, issue, goal, project, addressOf }
}

// biome-ignore lint/suspicious/noExplicitAny: a few fields of many responses are read.
type Call = (method: string, path: string, body?: unknown) => Promise<any>

/** Adds webhooks, one of which fails, and placements. @returns the failing webhook */
async function arrangeReceivers(call: Call, at: string): Promise<{ id: string }> {
  const receiver = { url: 'https://build.example.com/hooks/service', events: ['issue.*', 'approval.created'] }
  const webhook = await call('POST', `${at}/webhooks`, receiver)
  await call('POST', `/api/webhooks/${webhook.id}/test`, {})
  const chat = await call('POST', `${at}/webhooks`, {
    url: 'https://chat.example.com/hooks/1',
    events: ['approval.created'],
    description: 'Chat of the team',
  })
  await call('PATCH', `/api/webhooks/${chat.id}`, { status: 'disabled' })
  await call('POST', '/api/placements', { name: 'gpu', type: 'ssh', settings: { host: 'gpu.example.org' }, maxRuns: 4 })
  await call('POST', '/api/placements', {
    name: 'cluster',
    type: 'slurm',
    settings: { publicUrl: 'http://127.0.0.1:3000', partition: 'main' },
  })
  return webhook
}

/** Adds content for the other pages: goals, a routine, secrets, a mention of the board, an imported template. */
async function arrangeRest(
  call: Call,
  at: string,
  of: { mara: { id: string }; kit: { id: string }; issueId: string; url: string },
): Promise<void> {
  const [goal] = await call('GET', `${at}/goals`)
  const below = await call('POST', `${at}/goals`, {
    title: 'The page works without a network',
    level: 'team',
    status: 'active',
    parentId: goal.id,
    ownerAgentId: of.mara.id,
  })
  await call('POST', `${at}/goals`, { title: 'Store a week of tides', level: 'task', parentId: below.id })
  await call('POST', `${at}/routines`, {
    title: 'Compare yesterday with the printed table',
    assigneeAgentId: of.kit.id,
    cron: '0 9 * * 1-5',
    timeZone: 'Europe/Berlin',
  })
  await call('POST', `${at}/secrets`, { name: 'TIDES_API_KEY', value: 'not-a-key', description: 'Reads the gauges.' })
  await call('POST', `${at}/imports/apply`, {
    source: { type: 'template', name: 'research-desk' },
    target: { mode: 'existing_company', companyId: at.split('/').at(-1) },
  })
  const { token } = await call('POST', `/api/agents/${of.kit.id}/keys`, {})
  await fetch(`${of.url}/api/issues/${of.issueId}/comments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ body: '@board Which harbour is meant: the old one, or the marina?' }),
  })
}
