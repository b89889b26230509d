import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'

for (const adapterType of ['runtimeA_local', 'runtimeB_local']) {
  test(`${adapterType} stores the path as instructionsFilePath`, async (t) => {
    const app = createTestApp(t)
    const agent = await makeAgent(app, await makeCompany(app), { adapterType, adapterConfig: { cwd: '/srv/app' } })
    const path = `/api/agents/${agent.id}/instructions-path`
    const stored = async () => (await app.request('GET', `/api/agents/${agent.id}`)).body.adapterConfig
    const response = await app.request('PATCH', path, { path: 'docs/../AGENTS.md' })
    assert.equal(response.status, 200)
    assert.deepEqual(response.body, {
      agentId: agent.id,
      adapterType,
      adapterConfigKey: 'instructionsFilePath',
      path: '/srv/app/AGENTS.md',
    })
    assert.deepEqual(await stored(), { cwd: '/srv/app', instructionsFilePath: '/srv/app/AGENTS.md' })
    await app.make('PATCH', path, { path: '/elsewhere/A.md' })
    assert.equal((await stored()).instructionsFilePath, '/elsewhere/A.md')
    await app.make('PATCH', path, { path: null })
    assert.deepEqual(await stored(), { cwd: '/srv/app' })
    const revisions = (await app.request('GET', `/api/agents/${agent.id}/config-revisions`)).body
    assert.equal(revisions.length, 4)
  })
}

test('a relative path without a cwd is 422', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  const response = await app.request('PATCH', `/api/agents/${agent.id}/instructions-path`, { path: 'AGENTS.md' })
  assert.equal(response.status, 422)
  assert.match(response.body.error, /cwd/)
})

test('only the agent and its managers may set its path', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const top = await makeAgent(app, companyId, { name: 'Top' })
  const middle = await makeAgent(app, companyId, { name: 'Middle', reportsTo: top.id })
  const agent = await makeAgent(app, companyId, { reportsTo: middle.id })
  const peer = await makeAgent(app, companyId, { name: 'Peer', reportsTo: middle.id })
  const below = await makeAgent(app, companyId, { name: 'Below', reportsTo: agent.id })
  const ceo = await makeAgent(app, companyId, { name: 'Aside', role: 'ceo' })
  for (const [who, expected] of [
    [top, 200],
    [middle, 200],
    [agent, 200],
    [peer, 403],
    [below, 403],
    [ceo, 403],
  ] as const) {
    const request = await asAgent(app, who)
    const { status } = await request('PATCH', `/api/agents/${agent.id}/instructions-path`, { path: `/${who.name}.md` })
    assert.equal(status, expected, who.name)
  }
})

test('the instructions-path endpoint refuses a configuration key that holds no path', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const local = await makeAgent(app, companyId)
  const process = await makeAgent(app, companyId, { adapterType: 'process', adapterConfig: { command: 'true' } })
  for (const adapterConfigKey of ['command', 'env', 'cwd', 'args', '__proto__', 'url']) {
    for (const agent of [local, process]) {
      const response = await app.request('PATCH', `/api/agents/${agent.id}/instructions-path`, {
        path: '/bin/evil',
        adapterConfigKey,
      })
      assert.equal(response.status, 422, adapterConfigKey)
    }
  }
  const unnamed = await app.request('PATCH', `/api/agents/${process.id}/instructions-path`, { path: '/a.md' })
  assert.equal(unnamed.status, 422)
  const named = { path: '/a.md', adapterConfigKey: 'instructionsFilePath' }
  assert.equal((await app.request('PATCH', `/api/agents/${local.id}/instructions-path`, named)).status, 200)
})
