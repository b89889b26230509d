import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { asAgent, insertAgent, insertIssue, insertRunRow, insertSpend } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { actions, importSkills, makeAgent, makeCompany } from '../../make.ts'

test('an agent requires only a name', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId, { name: 'Ada Lovelace' })
  const { name, urlKey, role, status, adapterType, budgetMonthlyCents, reportsTo } = agent
  assert.deepEqual(
    { name, urlKey, role, status, adapterType, budgetMonthlyCents, reportsTo },
    {
      name: 'Ada Lovelace',
      urlKey: 'ada-lovelace',
      role: 'engineer',
      status: 'idle',
      adapterType: 'runtimeA_local',
      budgetMonthlyCents: 0,
      reportsTo: null,
    },
  )
  assert.deepEqual((await app.request('GET', `/api/agents/${agent.id}`)).body, agent)
  assert.deepEqual(await actions(app, companyId), ['company.created', 'agent.created'])
})

test('a read returns every field that the agent was created with', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss', role: 'ceo' })
  const issueId = insertIssue(app.ctx, { company_id: companyId }).id
  await importSkills(app, companyId, 'ink', 'maps')
  const want = {
    name: 'Bo',
    role: 'researcher',
    title: 'Head of Maps',
    icon: 'compass',
    reportsTo: boss.id,
    capabilities: 'Draws maps.',
    desiredSkills: ['maps', 'ink'],
    adapterType: 'process',
    adapterConfig: { command: 'true' },
    runtimeConfig: { heartbeat: { enabled: true, intervalSec: 300, wakeOnDemand: false } },
    budgetMonthlyCents: 1_500,
    metadata: { floor: 3 },
  }
  const agent = await makeAgent(app, companyId, { ...want, sourceIssueId: issueId })
  for (const [key, value] of Object.entries(want)) assert.deepEqual(agent[key], value, key)
  assert.deepEqual(agent.chainOfCommand, [{ id: boss.id, name: 'Boss', role: 'ceo', title: null }])
  const [entry] = (await app.request('GET', `/api/companies/${companyId}/activity`)).body
  assert.deepEqual(entry.details.sourceIssueIds, [issueId])
})

test('agents may share a name, and url keys are unique', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const keys = []
  for (const name of ['Zoë', 'Zoe', 'zoe!', '李', 'me', '--']) {
    keys.push((await makeAgent(app, companyId, { name })).urlKey)
  }
  assert.deepEqual(keys, ['zoe', 'zoe-2', 'zoe-3', 'agent', 'me-2', 'agent-2'])
})

test('an agent is found by its company and url key', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId, { name: 'Zoe' })
  assert.equal((await app.request('GET', `/api/agents/zoe?companyId=${companyId}`)).body.id, agent.id)
  assert.equal((await app.request('GET', '/api/agents/zoe')).status, 404)
  const asZoe = await asAgent(app, agent)
  assert.equal((await asZoe('GET', '/api/agents/zoe')).body.id, agent.id)
})

for (const [field, value] of Object.entries({
  name: '',
  role: 'Chief Officer',
  icon: 'no-such-icon',
  adapterType: 'telepathy',
  budgetMonthlyCents: -1,
  runtimeConfig: { heartbeat: { intervalSec: 0 } },
  nmae: 'x',
  companyId: 'x',
  status: 'idle',
})) {
  test(`refuses an agent with an invalid ${field}, and names the field`, async (t) => {
    const app = createTestApp(t)
    const companyId = await makeCompany(app)
    const { status, body } = await app.request('POST', `/api/companies/${companyId}/agents`, {
      name: 'A',
      [field]: value,
    })
    assert.equal(status, 400)
    assert.match(body.error, new RegExp(field))
    assert.deepEqual((await app.request('GET', `/api/companies/${companyId}/agents`)).body, [])
  })
}

test('an unknown adapter type is refused with the list of known types', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const { body } = await app.request('POST', `/api/companies/${companyId}/agents`, { name: 'A', adapterType: 'x' })
  for (const type of ['runtimeA_local', 'runtimeB_local', 'process', 'http']) assert.ok(body.error.includes(type))
})

test('an unknown, terminated or foreign manager is 422', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const other = await makeAgent(app, await makeCompany(app, { name: 'Other' }))
  const gone = await makeAgent(app, companyId)
  await app.make('POST', `/api/agents/${gone.id}/terminate`)
  for (const reportsTo of [other.id, gone.id, 'nobody']) {
    const response = await app.request('POST', `/api/companies/${companyId}/agents`, { name: 'A', reportsTo })
    assert.equal(response.status, 422)
    assert.match(response.body.error, /reportsTo/)
  }
})

test('only the board may create agents', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const ceo = await makeAgent(app, companyId, { role: 'ceo' })
  const response = await (await asAgent(app, ceo))('POST', `/api/companies/${companyId}/agents`, { name: 'A' })
  assert.equal(response.status, 403)
})

test('/agents/me returns the calling agent, and is 403 for the board', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss' })
  const agent = await makeAgent(app, companyId, { reportsTo: boss.id })
  const me = (await (await asAgent(app, agent))('GET', '/api/agents/me')).body
  assert.equal(me.id, agent.id)
  assert.equal(me.status, 'running')
  assert.equal(me.chainOfCommand[0].id, boss.id)
  const { status, body } = await app.request('GET', '/api/agents/me')
  assert.equal(status, 403)
  assert.match(body.error, /board/)
})

test('an agent has the status running only while it has a live run', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const busy = await makeAgent(app, companyId)
  const idle = await makeAgent(app, companyId)
  insertRunRow(app.ctx, busy)
  insertRunRow(app.ctx, idle, { status: 'succeeded', finished_at: app.ctx.now })
  const ids = async (query: string) =>
    (await app.request('GET', `/api/companies/${companyId}/agents?${query}`)).body.map(
      (agent: { id: string }) => agent.id,
    )
  assert.deepEqual(await ids('status=running'), [busy.id])
  assert.deepEqual(await ids('status=idle,error'), [idle.id])
  assert.deepEqual(await ids('status=idle,running'), [busy.id, idle.id])
  assert.equal((await app.request('GET', `/api/companies/${companyId}/agents?status=busy`)).status, 400)
})

test('lists agents oldest first, filtered by role or manager, in pages', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss', role: 'ceo' })
  for (const name of ['A', 'B', 'C']) await makeAgent(app, companyId, { name, reportsTo: boss.id })
  const names = (response: { body: { name: string }[] }) => response.body.map((agent) => agent.name)
  const base = `/api/companies/${companyId}/agents`
  assert.deepEqual(names(await app.request('GET', base)), ['Boss', 'A', 'B', 'C'])
  assert.deepEqual(names(await app.request('GET', `${base}?role=ceo`)), ['Boss'])
  assert.deepEqual(names(await app.request('GET', `${base}?reportsTo=${boss.id}`)), ['A', 'B', 'C'])
  const first = await app.request('GET', `${base}?limit=3&count=true`)
  assert.deepEqual(names(first), ['Boss', 'A', 'B'])
  assert.equal(first.headers.get('x-total-count'), '4')
  const next = /<(.+)>/.exec(first.headers.get('link') ?? '')?.[1]
  assert.deepEqual(names(await app.request('GET', next!)), ['C'])
})

test('the spend and budget status of an agent are those of the current month', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId, { budgetMonthlyCents: 1_000 })
  const look = async () => {
    const { spentMonthlyCents, budgetStatus } = (await app.request('GET', `/api/agents/${agent.id}`)).body
    return [spentMonthlyCents, budgetStatus]
  }
  insertSpend(app.ctx, agent, 799)
  assert.deepEqual(await look(), [799, 'ok'])
  insertSpend(app.ctx, agent, 1)
  assert.deepEqual(await look(), [800, 'warning'])
  insertSpend(app.ctx, agent, 200)
  assert.deepEqual(await look(), [1_000, 'exceeded'])
  app.clock.set('2026-12-01T00:00:00.000Z')
  assert.deepEqual(await look(), [0, 'ok'])
})

test('an agent of another company is 404, like an unknown agent', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  const stranger = await makeAgent(app, await makeCompany(app, { name: 'Other' }))
  const request = await asAgent(app, stranger)
  assert.equal((await request('GET', `/api/agents/${agent.id}`)).status, 404)
  assert.equal((await request('GET', `/api/companies/${agent.companyId}/agents`)).status, 403)
  assert.equal((await app.request('GET', '/api/agents/nope')).status, 404)
})

test('an agent is created with permissions, which a later read returns', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const permissions = { canCreateAgents: false, canAssignTasks: false }
  const agent = await makeAgent(app, companyId, { name: 'Kit', permissions: { ...permissions, canCreateSkills: true } })
  assert.deepEqual(agent.permissions, permissions)
  const body = { name: 'Kit', permissions: { canCreateSkills: false } }
  assert.equal((await app.request('POST', `/api/companies/${companyId}/agents`, body)).status, 400)
})

test('an agent names the secrets that it lacks, until they are stored', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId, {
    name: 'Kit',
    adapterConfig: { env: { GH_TOKEN: { $secret: 'GITHUB' }, COLOUR: 'blue' } },
    metadata: {
      inputs: [
        { name: 'GH_TOKEN', kind: 'secret', requirement: 'required' },
        { name: 'NPM_TOKEN', kind: 'secret', requirement: 'required' },
        { name: 'SENTRY', kind: 'secret', requirement: 'optional' },
      ],
    },
  })
  assert.deepEqual(agent.missingSecrets, ['GITHUB', 'NPM_TOKEN'])
  const { notes } = await app.make('POST', `/api/agents/${agent.id}/rehearse`)
  assert.ok(notes.includes('These secrets are missing: GITHUB, NPM_TOKEN.'))
  await app.make('POST', `/api/companies/${companyId}/secrets`, { name: 'GITHUB', value: 'a long value' })
  const env = { NPM_TOKEN: 'another value' }
  const changed = await app.make('PATCH', `/api/agents/${agent.id}`, { adapterConfig: { env } })
  assert.deepEqual(changed.missingSecrets, [])
})

test('the board and a manager make the next runs of an agent start new sessions', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = insertAgent(app, { company_id: companyId })
  const { id, request } = insertAgent(app, { company_id: companyId, reports_to: boss.id })
  const issues = [1, 2].map(() => insertIssue(app.ctx, { company_id: companyId }))
  const session = { agent_id: id, adapter_type: 'runtimeA_local', session_id: 's', cwd: '/a', updated_at: app.ctx.now }
  for (const issue of issues)
    app.ctx.db.run(sql.insertInto('agent_session').values({ ...session, issue_key: issue.id }))
  const path = `/api/agents/${id}/runtime-state/reset-session`
  const issuesOf = (sessions: { issueId: string }[]) => sessions.map(({ issueId }) => issueId)

  assert.equal((await request('POST', path)).status, 403)
  assert.equal((await boss.request('POST', path, { taskKey: 'nothing' })).status, 422)
  const first = await boss.request('POST', path, { taskKey: issues[0]!.identifier })
  assert.deepEqual(issuesOf(first.body.sessions), [issues[1]!.id])
  assert.deepEqual(issuesOf((await request('GET', `/api/agents/${id}/task-sessions`)).body), [issues[1]!.id])
  assert.deepEqual((await app.make('POST', path)).sessions, [])
  await app.make('POST', path)
  assert.deepEqual((await actions(app, companyId)).slice(-2), ['agent.sessions_reset', 'agent.sessions_reset'])
})
