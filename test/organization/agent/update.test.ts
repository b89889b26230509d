import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { actions, importSkills, makeAgent, makeCompany } from '../../make.ts'

test('the board may change any field, and each change creates a revision that lists the field', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss' })
  const agent = await makeAgent(app, companyId)
  await importSkills(app, companyId, 'ink')
  const change = {
    name: 'Bea',
    role: 'designer',
    title: 'Lead',
    icon: 'star',
    reportsTo: boss.id,
    capabilities: 'Draws.',
    desiredSkills: ['ink'],
    adapterConfig: { model: 'm1' },
    runtimeConfig: { heartbeat: { enabled: true } },
    budgetMonthlyCents: 500,
    metadata: { floor: 2 },
  }
  const { status, body } = await app.request('PATCH', `/api/agents/${agent.id}`, change)
  assert.equal(status, 200)
  for (const [key, value] of Object.entries(change)) assert.deepEqual(body[key], value, key)
  assert.equal(body.urlKey, 'bea')
  assert.deepEqual((await app.request('GET', `/api/agents/${agent.id}`)).body, body)
  const [revision] = (await app.request('GET', `/api/agents/${agent.id}/config-revisions`)).body
  assert.equal(revision.source, 'patch')
  assert.equal(revision.createdByUserId, 'local-board')
  assert.deepEqual(revision.changedKeys.sort(), [
    'adapterConfig',
    'capabilities',
    'icon',
    'metadata',
    'name',
    'reportsTo',
    'role',
    'runtimeConfig',
    'title',
  ])
  assert.equal(revision.beforeConfig.name, 'Ann')
  assert.equal(revision.afterConfig.name, 'Bea')
})

test('setting the current values changes nothing and records nothing', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  await importSkills(app, companyId, 'ink')
  const agent = await makeAgent(app, companyId, { adapterConfig: { model: 'm1' }, desiredSkills: ['ink'] })
  const before = await actions(app, companyId)
  app.clock.move(1_000)
  const { name, adapterConfig, runtimeConfig, desiredSkills, budgetMonthlyCents } = agent
  const same = { name, adapterConfig, runtimeConfig, desiredSkills, budgetMonthlyCents }
  assert.deepEqual((await app.request('PATCH', `/api/agents/${agent.id}`, same)).body, agent)
  assert.deepEqual(await actions(app, companyId), before)
  assert.equal((await app.request('GET', `/api/agents/${agent.id}/config-revisions`)).body.length, 1)
})

test('a PATCH merges configurations by key, and null removes a key', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), {
    adapterConfig: { cwd: '/srv', model: 'm1', env: { A: '1', B: '2' } },
    runtimeConfig: { heartbeat: { enabled: true, intervalSec: 60 } },
  })
  const change = {
    adapterConfig: { model: null, env: { A: null, C: '3' } },
    runtimeConfig: { heartbeat: { intervalSec: 90 } },
  }
  const { body } = await app.request('PATCH', `/api/agents/${agent.id}`, change)
  assert.deepEqual(body.adapterConfig, { cwd: '/srv', env: { B: '[redacted]', C: '[redacted]' } })
  assert.deepEqual(body.runtimeConfig, { heartbeat: { enabled: true, intervalSec: 90 } })
})

test('changing the adapter type resets the adapter configuration', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { adapterConfig: { model: 'm1' } })
  const change = { adapterType: 'process', adapterConfig: { command: 'true' } }
  const { body } = await app.request('PATCH', `/api/agents/${agent.id}`, change)
  assert.deepEqual(body.adapterConfig, { command: 'true' })
  assert.equal((await app.request('PATCH', `/api/agents/${agent.id}`, { adapterType: 'telepathy' })).status, 400)
})

test('refuses an agent that would report to itself or to its own report', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const top = await makeAgent(app, companyId, { name: 'Top' })
  const middle = await makeAgent(app, companyId, { name: 'Middle', reportsTo: top.id })
  const low = await makeAgent(app, companyId, { name: 'Low', reportsTo: middle.id })
  for (const reportsTo of [top.id, middle.id, low.id]) {
    const { status, body } = await app.request('PATCH', `/api/agents/${top.id}`, { reportsTo })
    assert.equal(status, 422)
    assert.match(body.error, /reportsTo/)
  }
  const { body } = await app.request('PATCH', `/api/agents/${low.id}`, { reportsTo: 'top' })
  assert.deepEqual(
    body.chainOfCommand.map((manager: { id: string }) => manager.id),
    [top.id],
  )
})

test('a PATCH with unknown fields is 400', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  for (const field of ['companyId', 'status', 'permissions', 'urlKey', 'spentMonthlyCents']) {
    const { status, body } = await app.request('PATCH', `/api/agents/${agent.id}`, { [field]: 'x' })
    assert.equal(status, 400)
    assert.match(body.error, new RegExp(field))
  }
})

test('an agent may change the profile fields of itself and its reports only', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss' })
  const agent = await makeAgent(app, companyId, { reportsTo: boss.id })
  const peer = await makeAgent(app, companyId, { name: 'Peer', reportsTo: boss.id })
  const change = { title: 'Chief of Ink', capabilities: 'Draws.', icon: 'pen', name: 'Ink' }
  for (const [who, status] of [
    [agent, 200],
    [boss, 200],
    [peer, 403],
  ] as const) {
    const request = await asAgent(app, who)
    assert.equal((await request('PATCH', `/api/agents/${agent.id}`, change)).status, status)
  }
  assert.equal((await (await asAgent(app, agent))('PATCH', `/api/agents/${boss.id}`, change)).status, 403)
})

for (const [field, value] of Object.entries({
  adapterType: 'process',
  adapterConfig: { command: 'evil' },
  runtimeConfig: { heartbeat: { enabled: true } },
  budgetMonthlyCents: 9_999,
  role: 'ceo',
  reportsTo: null,
  desiredSkills: ['x'],
  metadata: {},
})) {
  test(`no agent, not even the CEO, may set ${field} of an agent`, async (t) => {
    const app = createTestApp(t)
    const companyId = await makeCompany(app)
    const ceo = await makeAgent(app, companyId, { name: 'Boss', role: 'ceo' })
    const agent = await makeAgent(app, companyId, { reportsTo: ceo.id })
    const request = await asAgent(app, ceo)
    for (const id of [ceo.id, agent.id]) {
      const { status, body } = await request('PATCH', `/api/agents/${id}`, { title: 'x', [field]: value })
      assert.equal(status, 403)
      assert.match(body.error, new RegExp(field))
    }
    assert.equal((await app.request('GET', `/api/agents/${agent.id}`)).body.title, null)
    assert.equal((await request('PATCH', `/api/agents/${agent.id}/permissions`, { canCreateAgents: true })).status, 403)
  })
}

test('a timer change restarts the timer; other changes keep its due time', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), {
    runtimeConfig: { heartbeat: { enabled: true, intervalSec: 600 } },
  })
  const due = async () => (await app.request('GET', `/api/agents/${agent.id}/runtime-state`)).body.timerDueAt
  const patch = (heartbeat: unknown) => app.make('PATCH', `/api/agents/${agent.id}`, { runtimeConfig: { heartbeat } })
  assert.equal(await due(), '2026-11-21T09:10:00.000Z')
  app.clock.move(60_000)
  await patch({ wakeOnDemand: false })
  assert.equal(await due(), '2026-11-21T09:10:00.000Z')
  await patch({ intervalSec: 60 })
  assert.equal(await due(), '2026-11-21T09:02:00.000Z')
  await patch({ enabled: false })
  assert.equal(await due(), null)
})
