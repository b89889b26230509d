import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { leastRole, ROLES, type Role } from '../../src/board/role.ts'
import { sql } from '../../src/database/sql.ts'
import { ENDPOINTS } from '../../src/http/app.ts'
import type { Endpoint } from '../../src/http/route.ts'
import { agent, anyone, ceo, manager } from '../../src/http/who.ts'
import { insertRun } from '../arrange.ts'
import type { Ask } from '../helpers.ts'
import { arrangeCompany } from '../make.ts'
import { createPeopleApp } from './people.ts'

/**
 * Who may call what in authenticated mode: the least role that an endpoint
 * asks for. What is not here is a viewer's to read and an admin's to do.
 */
const MAY: Record<Role, string> = {
  viewer:
    'companies.create members.remove tokens.create tokens.revoke session.signOutEverywhere session.changePassword',
  member: `
    agents.invoke agents.wakeup approvals.comment attachments.delete comments.create documents.delete documents.write
    heartbeatRuns.cancel runs.cancel
    goals.create goals.update goals.delete labels.create labels.update labels.delete
    issues.attach issues.checkout issues.create issues.createChild issues.linkApproval issues.release
    issues.unlinkApproval issues.update projects.create projects.update projects.delete`,
  admin: 'agents.listKeys invitations.list invites.list',
  owner: 'companies.delete members.update',
}

function expectedRole({ id, method }: Endpoint): Role {
  const named = ROLES.find((role) => MAY[role].split(/\s+/).includes(id))
  return named ?? (method === 'GET' ? 'viewer' : 'admin')
}

/** Bodies that are good enough for the role to be what a request fails by. */
const BODIES: Record<string, object> = {
  'agents.create': { name: 'Nia', role: 'engineer', adapterType: 'process', adapterConfig: { command: 'true' } },
  'agents.hire': { name: 'Nia', role: 'engineer', adapterType: 'process', adapterConfig: { command: 'true' } },
  'agents.setBudget': { budgetMonthlyCents: 1 },
  'agents.setInstructionsPath': { path: '/srv/A.md' },
  'agents.setPermissions': { canCreateAgents: true },
  'agents.update': { title: 'x' },
  'approvals.comment': { body: 'x' },
  'approvals.create': { type: 'approve_ceo_strategy', payload: { plan: 'x' } },
  'comments.create': { body: 'x' },
  'companies.create': { name: 'x' },
  'companies.update': { name: 'x' },
  'companies.updateBranding': { name: 'x' },
  'companies.updateBudgets': { budgetMonthlyCents: 1 },
  'costs.report': { agentId: 'x', provider: 'x', model: 'x' },
  'goals.create': { title: 'x' },
  'goals.update': { title: 'y' },
  'issues.create': { title: 'x' },
  'issues.createChild': { title: 'x' },
  'issues.checkout': { agentId: 'x' },
  'issues.linkApproval': { approvalId: 'x' },
  'issues.update': { title: 'y' },
  'labels.create': { name: 'x' },
  'labels.update': { color: '#123456' },
  'members.update': { role: 'member' },
  'projects.create': { name: 'x' },
  'projects.update': { name: 'y' },
  'secrets.create': { name: 'X', value: 'long enough' },
  'secrets.rotate': { value: 'long enough' },
  'session.changePassword': { currentPassword: 'x', newPassword: 'x' },
  'workspaces.create': { cwd: '/a' },
  'workspaces.update': { cwd: '/b' },
}

const upload = () => {
  const form = new FormData()
  form.set('file', new File(['GIF89a..'], 'x.gif'))
  return form
}

/** A company with one of everything, and callers of every kind. */
async function arrange(t: TestContext) {
  const app = createPeopleApp(t)
  const founder = await app.person('Olga', {}, true)
  const make = async (path: string, body: object) => (await founder.ask('POST', path, body)).body
  const { company, ceo, engineer } = await arrangeCompany({
    ...app,
    make: async (_, path, body) => make(path, body as object),
  })
  const at = `/api/companies/${company.id}`
  const issue = await make(`${at}/issues`, { title: 'x' })
  const project = await make(`${at}/projects`, { name: 'x' })
  const attached = (await engineer.ask('POST', `/api/issues/${issue.id}/attachments`, upload())).body
  const approval = { type: 'approve_ceo_strategy', payload: { plan: 'x' }, issueIds: [issue.id] }
  const params: Record<string, string> = {
    companyId: company.id,
    agentId: engineer.id,
    issueId: issue.id,
    projectId: project.id,
    goalId: (await make(`${at}/goals`, { title: 'x' })).id,
    labelId: (await make(`${at}/labels`, { name: 'label' })).id,
    commentId: (await make(`/api/issues/${issue.id}/comments`, { body: 'x' })).id,
    workspaceId: (await make(`/api/projects/${project.id}/workspaces`, { cwd: '/a' })).id,
    approvalId: (await ceo.ask('POST', `${at}/approvals`, approval)).body.id,
    keyId: (await make(`/api/agents/${engineer.id}/keys`, {})).id,
    secretId: (await make(`${at}/secrets`, { name: 'KEY', value: 'long enough' })).id,
    invitationId: (await make(`${at}/invitations`, {})).id,
    revisionId: (await founder.ask('GET', `/api/agents/${engineer.id}/config-revisions`)).body[0]?.id ?? 'none',
    assetId: attached.assetId,
    attachmentId: attached.id,
    runId: (await insertRun(app, engineer)).id,
  }
  const here = (role: Role) => ({ [company.id as string]: role })
  const people = {
    viewer: await app.person('Vera', here('viewer')),
    member: await app.person('Mia', here('member')),
    admin: await app.person('Adam', here('admin')),
    owner: founder,
  }
  const stranger = await app.person('Stan', { [(await make('/api/companies', { name: 'Other' })).id]: 'owner' })
  params.userId = people.viewer.id
  const expired = await app.person('Ex', here('owner'))
  const past = '2020-01-01T00:00:00.000Z'
  app.ctx.db.run(sql.updateTable('auth_session').set({ expires_at: past }).where('user_id', '=', expired.id))
  const { id, token } = (await founder.ask('POST', '/api/board/tokens')).body
  await founder.ask('DELETE', `/api/board/tokens/${id}`)
  const requestOf = (endpoint: Endpoint): [string, string, object | undefined] => [
    endpoint.method,
    endpoint.path.replaceAll(/:(\w+?)(?=\.txt$|\/|$)/g, (_, name) => params[name] ?? 'none'),
    endpoint.upload ? upload() : endpoint.body && (BODIES[endpoint.id] ?? {}),
  ]
  return { app, people, stranger, expired, revoked: app.as(token), requestOf, params }
}

const STREAMS = /\/(events|stream|live)$/

const isClosed = (endpoint: Endpoint) => !endpoint.who.includes(anyone)
const isForAgentsOnly = ({ who }: Endpoint) => who.every((one) => [agent, ceo, manager].includes(one))
const CLOSED = ENDPOINTS.filter((endpoint) => isClosed(endpoint))

test('the table of roles is what the code has, and names no endpoint that is not there', () => {
  const differing = CLOSED.filter(({ id }) => !/^(tokens|session)\./.test(id)).filter(
    (endpoint) => leastRole(endpoint) !== expectedRole(endpoint),
  )
  assert.deepEqual(
    differing.map(({ id }) => id),
    [],
  )
  const named = Object.values(MAY).flatMap((ids) => ids.split(/\s+/).filter(Boolean))
  const known = ENDPOINTS.map(({ id }) => id)
  assert.deepEqual(
    [...named, ...Object.keys(BODIES)].filter((id) => !known.includes(id)),
    [],
  )
})

test('nobody, an expired session and a revoked token get 401 everywhere but where anyone may', async (t) => {
  const { app, expired, revoked, requestOf } = await arrange(t)
  for (const endpoint of CLOSED) {
    for (const [name, ask] of Object.entries({ nobody: app.ask, expired: expired.ask, revoked })) {
      assert.equal((await ask(...requestOf(endpoint))).status, 401, `${name} ${endpoint.id}`)
    }
  }
})

test('a stranger learns nothing of a company and changes nothing in it', async (t) => {
  const { app, stranger, requestOf, params } = await arrange(t)
  const before = countActivity(app.ctx.db.all, params.companyId!)
  for (const endpoint of CLOSED.filter((one) => /:\w+Id/.test(one.path))) {
    const { status } = await stranger.ask(...requestOf(endpoint))
    const expected = endpoint.path.includes(':companyId') || isForAgentsOnly(endpoint) ? [403] : [404]
    assert.ok([...expected, ...odd(endpoint)].includes(status), `${endpoint.id}: ${status}`)
  }
  assert.equal(countActivity(app.ctx.db.all, params.companyId!), before)
})

for (const [i, role] of ROLES.entries()) {
  test(`${role}: is let in where its role is enough, and refused with 403 everywhere else`, async (t) => {
    const { people, requestOf } = await arrange(t)
    const { ask }: { ask: Ask } = people[role]
    const inCompany = CLOSED.filter((one) => /:\w+Id/.test(one.path) && !one.path.includes(':tokenId'))
    // What takes something away comes last, so that all else is still there to be asked for.
    const order = ({ id, method, path }: Endpoint) => {
      if (id === 'members.remove' || id === 'companies.delete') return 4
      if (/terminate|archive|companies\.update$/.test(id)) return 3
      return method === 'DELETE' ? 3 - path.split('/').length / 10 : 1
    }
    for (const endpoint of inCompany.toSorted((a, b) => order(a) - order(b))) {
      const isEnough = ROLES.indexOf(expectedRole(endpoint)) <= i && !isForAgentsOnly(endpoint)
      // An answer that does not end cannot be waited for.
      if (isEnough && STREAMS.test(endpoint.path)) continue
      const { status, body } = await ask(...requestOf(endpoint))
      const what = `${endpoint.id}: ${status} ${JSON.stringify(body)?.slice(0, 200)}`
      if (endpoint.id === 'members.remove') assert.notEqual(status, 401, what)
      else if (isEnough) assert.ok(status !== 401 && status !== 403, what)
      else assert.ok([403, ...odd(endpoint)].includes(status), what)
    }
  })
}

/** What else may refuse an endpoint that this table has no good request for: never anything that lets it through. */
const odd = (endpoint: Endpoint) => {
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const isKnown = names.every((name) => KNOWN_PARAMETERS.has(name)) && (!endpoint.body || endpoint.id in BODIES)
  return isKnown ? [] : [400, 404, 422]
}

const KNOWN_PARAMETERS = new Set(
  'companyId agentId issueId projectId goalId labelId commentId workspaceId approvalId keyId secretId invitationId assetId attachmentId runId'.split(
    ' ',
  ),
)

const countActivity = (all: (query: ReturnType<typeof activityOf>) => unknown[], companyId: string) =>
  all(activityOf(companyId)).length

const activityOf = (companyId: string) => sql.selectFrom('activity').select('id').where('company_id', '=', companyId)
