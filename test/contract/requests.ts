import { insertRun } from '../arrange.ts'
import type { Kind } from './who-may.ts'
import { good, type World } from './world.ts'

/** A request that can fail only because of its caller. */
export interface Request {
  params?: Record<string, string>
  query?: string
  body?: unknown
}

type Make = (world: World, by: Kind) => Request | Promise<Request>

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>'

const form = () => {
  const data = new FormData()
  data.set('file', new File([SVG], 'logo.svg'))
  return data
}

/** The agent of a kind of caller; Ada if the board has to name one. */
const agentOf = (world: World, by: Kind) =>
  ({ other: world.stranger, IC: world.colleague, manager: world.manager, CEO: world.ceo })[by as string] ??
  world.engineer

/** Ada. Mia and Cleo are her managers, and Bob is a colleague. */
const ada = (world: World) => ({ agentId: world.engineer.id })

const issue = async (world: World, more: object = {}) => ({
  issueId: (await world.issue({ assigneeAgentId: world.engineer.id, ...more })).id as string,
})

const approval = async (world: World, more: object = {}) => {
  const body = { type: 'approve_ceo_strategy', requestedByAgentId: world.ceo.id, payload: { plan: 'Grow' }, ...more }
  return { approvalId: (await world.thing('approvals', body)).id as string }
}

const linked = async (world: World) => {
  const { issueId } = await issue(world)
  return { issueId, ...(await approval(world, { issueIds: [issueId] })) }
}

const revised = async (world: World) => {
  const of = await approval(world)
  await world.make('POST', `/api/approvals/${of.approvalId}/request-revision`)
  return of
}

const goal = async (world: World) => ({ goalId: (await world.thing('goals', { title: 'Know' })).id as string })
const label = async (world: World) => ({ labelId: (await world.thing('labels', { name: crypto.randomUUID() })).id })
const project = async (world: World) => ({ projectId: (await world.thing('projects', { name: 'Atlas' })).id as string })

const workspace = async (world: World) => {
  const { projectId } = await project(world)
  return {
    projectId,
    workspaceId: (await world.make('POST', `/api/projects/${projectId}/workspaces`, { cwd: '/a' })).id,
  }
}

/** The live run of Ada. There is at most one. */
const run = async (world: World) => {
  const [live] = await good(world.request('GET', world.of(`/live-runs`)))
  return { runId: (live ?? (await insertRun(world, world.engineer))).id as string }
}

const comment = async (world: World) => {
  const { issueId } = await issue(world)
  return { issueId, commentId: (await world.make('POST', `/api/issues/${issueId}/comments`, { body: 'Hm.' })).id }
}

const attachment = async (world: World) => {
  const { issueId } = await issue(world)
  const { id, assetId } = await good(world.engineer.request('POST', `/api/issues/${issueId}/attachments`, form()))
  return { attachmentId: id as string, assetId: assetId as string }
}

const using =
  (params: (world: World) => object | Promise<object>, body?: (world: World, by: Kind) => unknown): Make =>
  async (world, by) => ({ params: (await params(world)) as Record<string, string>, body: body?.(world, by) })

/** The files of a skill with this name. */
const skillFiles = (name: string) => ({
  'SKILL.md': `---\nname: ${name}\ndescription: Read a tide table.\n---\nRead it.\n`,
})

const skill = async (world: World) => {
  const files = skillFiles(`tides-${crypto.randomUUID()}`)
  const { imported } = await world.make('POST', world.of('/skills/import'), { files })
  return { skillId: imported[0].id as string }
}

const document = async (world: World) => {
  const { issueId } = await issue(world)
  const path = `/api/issues/${issueId}/documents/plan`
  const { latestRevisionId } = await good(world.engineer.request('PUT', path, { body: '# Plan' }))
  return { issueId, key: 'plan', revisionId: latestRevisionId as string }
}

/** A mention of the whole board, as an item of the inbox. */
const inboxItem = async (world: World) => {
  const { issueId } = await issue(world)
  const { id } = await good(world.engineer.request('POST', `/api/issues/${issueId}/comments`, { body: '@board Look.' }))
  return { itemId: `mention-${id}` }
}

const interaction = async (world: World) => {
  const { issueId } = await issue(world)
  const path = `/api/issues/${issueId}/interactions`
  return {
    issueId,
    interactionId: (await good(world.engineer.request('POST', path, { kind: 'confirm', title: 'Go on?' }))).id,
  }
}

const question = async (world: World) => {
  const { issueId } = await issue(world)
  const path = `/api/issues/${issueId}/interactions`
  return {
    issueId,
    interactionId: (await good(world.engineer.request('POST', path, { kind: 'question', title: 'Who?' }))).id,
  }
}

const invite = async (world: World) => {
  const { id, token } = await world.make('POST', world.of('/gateway/invite-prompt'))
  return { inviteId: id as string, token: token as string }
}

/** An invite whose agent the board has approved. */
const accepted: Make = async (world) => {
  const { token } = await invite(world)
  const { approvalId, claimSecret } = await world.make('POST', `/api/invites/${token}/accept`, { name: 'Nia' })
  await world.make('POST', `/api/approvals/${approvalId}/approve`)
  return { params: { token }, body: { claimSecret } }
}

const PACKAGE = {
  source: {
    type: 'inline',
    files: { 'COMPANY.md': '---\nname: Orca\nslug: orca\nschema: agentcompanies/v1\n---\nHi.\n' },
  },
}

const into = (world: World) => ({ ...PACKAGE, target: { mode: 'existing_company', companyId: world.company.id } })
const anew = () => ({ ...PACKAGE, target: { mode: 'new_company', newCompanyName: 'Orca' } })

/** The body of a routine for Ada. */
const sweep = (world: World) => ({ title: 'Sweep', assigneeAgentId: world.engineer.id, intervalSec: 3600 })
const routine = async (world: World) => ({
  routineId: (await world.make('POST', world.of('/routines'), sweep(world))).id as string,
})

const newPlacement = () => ({ name: `p-${crypto.randomUUID().slice(0, 8)}`, type: 'ssh', settings: { host: 'farm' } })
const placement = async (world: World) => ({
  placement: (await world.make('POST', '/api/placements', newPlacement())).name as string,
})

const NOW = '2026-11-21T09:00:00.000Z'

const secretName = () => `KEY_${crypto.randomUUID().replaceAll('-', '_').toUpperCase()}`

const secret = async (world: World) => ({
  secretId: (await world.make('POST', world.of('/secrets'), { name: secretName(), value: 'long enough' })).id as string,
})

const hook = () => ({ url: `https://ci.example.com/${crypto.randomUUID()}` })
const webhook = async (world: World) => ({
  webhookId: (await world.make('POST', world.of('/webhooks'), hook())).id as string,
})

/** A placeholder id for entities that only authenticated mode has. */
const none = (name: string) => () => ({ [name]: 'none' })

const nothing = () => ({})

/** The requests of the endpoints for which the usual GET or an empty body is not enough. */
export const REQUESTS: Record<string, Make> = {
  'PATCH /api/agents/:agentId': using(ada, () => ({ title: 'Counter' })),
  'PATCH /api/agents/:agentId/budgets': using(ada, () => ({ budgetMonthlyCents: 100 })),
  'GET /api/agents/:agentId/config-revisions/:revisionId': async (world) => {
    const { id } = await world.thing('agents', { name: 'Nia' })
    const [revision] = await good(world.request('GET', `/api/agents/${id}/config-revisions`))
    return { params: { agentId: id, revisionId: revision.id } }
  },
  'POST /api/agents/:agentId/config-revisions/:revisionId/rollback': async (world) => {
    const { id } = await world.thing('agents', { name: 'Nia' })
    const [revision] = await good(world.request('GET', `/api/agents/${id}/config-revisions`))
    return { params: { agentId: id, revisionId: revision.id } }
  },
  'PATCH /api/agents/:agentId/instructions-path': using(ada, () => ({ path: '/srv/A.md' })),
  'DELETE /api/agents/:agentId/keys/:keyId': async (world) => ({
    params: { ...ada(world), keyId: (await world.make('POST', `/api/agents/${world.engineer.id}/keys`)).id },
  }),
  'POST /api/agents/:agentId/approve-configuration': async (world) => {
    const { id } = await world.thing('agents', { name: 'Nia' })
    const [revision] = await good(world.request('GET', `/api/agents/${id}/config-revisions`))
    return { params: { agentId: id }, body: { revisionId: revision.id } }
  },
  'PATCH /api/agents/:agentId/permissions': using(ada, () => ({ canCreateAgents: true })),
  'POST /api/agents/:agentId/resume': async (world) => {
    const { id } = await world.thing('agents', { name: 'Nia' })
    await world.make('POST', `/api/agents/${id}/pause`)
    return { params: { agentId: id } }
  },
  'POST /api/agents/:agentId/pause': async (world) => ({
    params: { agentId: (await world.thing('agents', { name: 'Nia' })).id },
  }),
  'POST /api/agents/:agentId/terminate': async (world) => ({
    params: { agentId: (await world.thing('agents', { name: 'Nia' })).id },
  }),
  'POST /api/approvals/:approvalId/comments': using(approval, () => ({ body: 'Why?' })),
  'POST /api/approvals/:approvalId/resubmit': using(revised),
  'POST /api/companies': using(nothing, () => ({ name: 'Orca' })),
  'PATCH /api/companies/:companyId': using(nothing, () => ({ name: 'Walrus' })),
  'DELETE /api/companies/:companyId': using(nothing, () => ({ confirm: 'Walrus' })),
  'POST /api/companies/:companyId/agent-hires': using(nothing, () => ({ name: 'Nia' })),
  'POST /api/companies/:companyId/agents': using(nothing, () => ({ name: 'Nia' })),
  'POST /api/companies/:companyId/approvals': using(nothing, () => ({ type: 'hire_agent' })),
  'PATCH /api/companies/:companyId/branding': using(nothing, () => ({ name: 'Walrus' })),
  'PATCH /api/companies/:companyId/budgets': using(nothing, () => ({ budgetMonthlyCents: 100 })),
  'POST /api/companies/:companyId/cost-events': using(nothing, (world) => ({
    ...ada(world),
    provider: 'p',
    model: 'm',
  })),
  'POST /api/companies/:companyId/goals': using(nothing, () => ({ title: 'Know' })),
  'POST /api/companies/:companyId/issues': using(nothing, () => ({ title: 'Count' })),
  'POST /api/companies/:companyId/labels': using(nothing, () => ({ name: crypto.randomUUID() })),
  'POST /api/companies/:companyId/logo': using(nothing, form),
  'POST /api/companies/:companyId/projects': using(nothing, () => ({ name: 'Atlas' })),
  'POST /api/companies/:companyId/skills/import': using(nothing, () => ({ files: skillFiles('tides') })),
  'POST /api/companies/:companyId/imports/apply': using(nothing, into),
  'POST /api/companies/:companyId/imports/preview': using(nothing, into),
  'POST /api/auth/change-password': using(nothing, () => ({ currentPassword: 'long enough', newPassword: 'longer' })),
  'POST /api/auth/reset-links': using(nothing, () => ({ key: 'x', email: 'ann@walrus.example' })),
  'POST /api/auth/sign-in': using(nothing, () => ({ email: 'ann@walrus.example', password: 'long enough' })),
  'PATCH /api/companies/:companyId/members/:userId': using(nothing, () => ({ role: 'member' })),
  'POST /api/companies/:companyId/routines': using(nothing, sweep),
  'PATCH /api/routines/:routineId': using(routine, () => ({ title: 'Mop' })),
  'POST /api/companies/:companyId/secrets': using(nothing, () => ({ name: secretName(), value: 'long enough' })),
  'POST /api/secrets/:secretId/rotate': using(secret, () => ({ value: 'long enough too' })),
  'POST /api/companies/:companyId/webhooks': using(nothing, hook),
  'PATCH /api/webhooks/:webhookId': using(webhook, () => ({ events: ['issue.*'] })),
  'POST /api/companies/:companyId/inbox-dismissals': async (world) => ({
    body: { itemKey: (await inboxItem(world)).itemId },
  }),
  'GET /api/companies/:companyId/search': () => ({ query: '?q=walrus' }),
  'POST /api/companies/import/apply': using(nothing, anew),
  'POST /api/companies/import/preview': using(nothing, anew),
  'POST /api/invites/:token/accept': using(invite, () => ({ name: 'Nia' })),
  'POST /api/invites/:token/claim-key': accepted,
  'PUT /api/issues/:issueId/documents/:key': async (world) => ({
    params: { ...(await issue(world)), key: 'plan' },
    body: { body: '# Plan' },
  }),
  'GET /api/docs/endpoints/:id': () => ({ params: { id: 'issues.checkout' } }),
  'GET /api/docs/:page': () => ({ params: { page: 'errors' } }),
  'PATCH /api/goals/:goalId': using(goal, () => ({ title: 'Know more' })),
  'PATCH /api/inbox/:itemId': using(inboxItem, () => ({ read: true })),
  'PATCH /api/issues/:issueId': using(issue, () => ({ status: 'in_progress' })),
  'POST /api/issues/:issueId/approvals': async (world) => ({ params: await issue(world), body: await approval(world) }),
  'DELETE /api/issues/:issueId/approvals/:approvalId': using(linked),
  'POST /api/issues/:issueId/attachments': using(issue, form),
  'POST /api/issues/:issueId/checkout': using(issue, (world, by) => ({ agentId: agentOf(world, by).id })),
  'POST /api/issues/:issueId/children': using(issue, () => ({ title: 'Count' })),
  'POST /api/issues/:issueId/comments': using(issue, () => ({ body: 'Hm.' })),
  'POST /api/issues/:issueId/release': using((world) => issue(world, { status: 'in_progress' })),
  'POST /api/issues/:issueId/interactions': using(issue, () => ({ kind: 'question', title: 'Who?' })),
  'POST /api/issues/:issueId/interactions/:interactionId/answer': using(interaction, () => ({ confirmed: true })),
  'POST /api/issues/:issueId/interactions/:interactionId/respond': using(question, () => ({
    answers: [{ questionId: '1', otherText: 'Ada' }],
  })),
  'PATCH /api/labels/:labelId': using(label, () => ({ color: '#123456' })),
  'POST /api/placements/:placement/test': using(placement),
  'POST /api/runs/:runId/bundle': using(run, () => ({ instance: crypto.randomUUID(), node: 'n', clock: NOW })),
  'POST /api/runs/:runId/report': using(run, () => ({
    instance: crypto.randomUUID(),
    clock: NOW,
    parts: [],
    exit: null,
  })),
  'POST /api/placements': using(nothing, newPlacement),
  'PATCH /api/placements/:placement': using(placement, () => ({ maxRuns: 3 })),
  'PATCH /api/projects/:projectId': using(project, () => ({ name: 'Atlas 2' })),
  'POST /api/projects/:projectId/workspaces': using(project, () => ({ cwd: '/a' })),
  'PATCH /api/projects/:projectId/workspaces/:workspaceId': using(workspace, () => ({ cwd: '/b' })),
  'GET /api/llms/agent-configuration/:adapterType.txt': () => ({ params: { adapterType: 'runtimeA_local' } }),
  'GET /llms/agent-configuration/:adapterType.txt': () => ({ params: { adapterType: 'runtimeA_local' } }),
}

/** Creates the value of each path parameter when a request needs it. */
const PARAMS: Record<string, (world: World) => object | Promise<object>> = {
  companyId: (world) => ({ companyId: world.company.id }),
  agentId: ada,
  approvalId: approval,
  assetId: attachment,
  attachmentId: attachment,
  commentId: comment,
  goalId: goal,
  interactionId: interaction,
  invitationId: none('invitationId'),
  inviteId: invite,
  issueId: issue,
  itemId: inboxItem,
  key: document,
  labelId: label,
  placement,
  projectId: project,
  revisionId: document,
  runId: run,
  routineId: routine,
  secretId: secret,
  sessionId: none('sessionId'),
  skillId: skill,
  token: invite,
  tokenId: none('tokenId'),
  userId: none('userId'),
  webhookId: webhook,
  workspaceId: workspace,
}

/** A GET of a stream never ends. Its status and headers are enough. */
export const methodFor = (method: string, path: string) => (/\/(events|stream)$/.test(path) ? 'HEAD' : method)

/**
 * Returns the path and the body of a valid request.
 *
 * @param own the request to use instead of the default
 */
export async function requestOf(world: World, method: string, path: string, by: Kind, own?: Request) {
  const { params = {}, query = '', body } = own ?? (await REQUESTS[`${method} ${path}`]?.(world, by)) ?? {}
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const filled: Record<string, string> = { ...params }
  // The last parameter first: the creation of a comment also creates its issue.
  for (const name of names.toReversed()) if (!(name in filled)) Object.assign(filled, await PARAMS[name]?.(world))
  const missing = names.filter((name) => !(name in filled))
  if (missing.length > 0) throw new Error(`${method} ${path}: say in requests.ts what ${missing} is`)
  return { path: `${path.replaceAll(/:(\w+)/g, (_, name) => filled[name]!)}${query}`, body }
}
