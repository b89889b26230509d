import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { asAgent, insertRun } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'

test('a key authenticates its agent until it is revoked', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  const key = await app.make('POST', `/api/agents/${agent.id}/keys`, { name: 'laptop' })
  assert.match(key.token, /^svc_[\w-]{49}$/)
  assert.equal((await app.as(key.token)('GET', '/api/agents/me')).body.id, agent.id)
  const revoked = await app.request('DELETE', `/api/agents/${agent.id}/keys/${key.id}`)
  assert.equal(revoked.body.revokedAt, app.ctx.now)
  assert.equal((await app.as(key.token)('GET', '/api/agents/me')).status, 401)
  app.clock.move(1_000)
  const again = await app.request('DELETE', `/api/agents/${agent.id}/keys/${key.id}`)
  assert.equal(again.body.revokedAt, revoked.body.revokedAt)
})

test('a key is returned once and never stored', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  const key = await app.make('POST', `/api/agents/${agent.id}/keys`)
  const listed = (await app.request('GET', `/api/agents/${agent.id}/keys`)).body
  assert.deepEqual(
    listed.map((entry: { id: string; name: string; prefix: string }) => [entry.id, entry.name, entry.prefix]),
    [[key.id, 'key', key.token.slice(0, 10)]],
  )
  const stored = JSON.stringify([
    app.ctx.db.all(sql.selectFrom('agent_key').selectAll()),
    app.ctx.db.all(sql.selectFrom('activity').selectAll()),
  ])
  assert.ok(!stored.includes(key.token))
})

test('an agent may create, list and revoke its own keys only', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss', role: 'ceo' })
  const agent = await makeAgent(app, companyId, { reportsTo: boss.id })
  const own = app.as((await app.make('POST', `/api/agents/${agent.id}/keys`)).token)
  const key = (await own('POST', `/api/agents/${agent.id}/keys`, {})).body
  assert.equal((await own('GET', `/api/agents/${agent.id}/keys`)).body.length, 2)
  const above = await asAgent(app, boss)
  assert.equal((await above('POST', `/api/agents/${agent.id}/keys`, {})).status, 403)
  assert.equal((await above('GET', `/api/agents/${agent.id}/keys`)).status, 403)
  assert.equal((await above('DELETE', `/api/agents/${agent.id}/keys/${key.id}`)).status, 403)
  assert.equal((await own('DELETE', `/api/agents/${agent.id}/keys/${key.id}`)).status, 200)
})

test('an unknown key and a key of another agent are 404', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId)
  const other = await makeAgent(app, companyId)
  const key = await app.make('POST', `/api/agents/${other.id}/keys`)
  assert.equal((await app.request('DELETE', `/api/agents/${agent.id}/keys/${key.id}`)).status, 404)
  assert.equal((await app.request('DELETE', `/api/agents/${agent.id}/keys/nope`)).status, 404)
})

for (const status of ['pending_approval', 'terminated'] as const) {
  test(`refuses a key for an agent that is ${status}`, async (t) => {
    const app = createTestApp(t)
    const agent = await makeAgent(app, await makeCompany(app))
    await app.ctx.write(() => app.ctx.db.run(sql.updateTable('agent').set({ status })))
    const { status: answered, body } = await app.request('POST', `/api/agents/${agent.id}/keys`, {})
    assert.equal(answered, 422)
    assert.equal(body.code, 'agent_not_ready')
  })
}

test('a run token cannot create a key, because a key would outlive the run', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  const own = await app.make('POST', `/api/agents/${agent.id}/keys`)
  const run = await insertRun(app, agent)
  const made = await run.request('POST', `/api/agents/${agent.id}/keys`, { name: 'lasting' })
  assert.deepEqual([made.status, made.body.code], [403, 'forbidden'])
  assert.match(made.body.error, /token of a run/)
  const remaining = (await app.request('GET', `/api/agents/${agent.id}/keys`)).body
  assert.deepEqual(
    remaining.map((key: { id: string }) => key.id),
    [own.id],
  )
})

test('a key that expires creates no key that is valid longer', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  const path = `/api/agents/${agent.id}/keys`
  const expiresAt = new Date(Date.parse(app.ctx.now) + 3_600_000).toISOString()
  const later = new Date(Date.parse(expiresAt) + 1_000).toISOString()
  const own = app.as((await app.make('POST', path, { expiresAt })).token)
  for (const body of [{}, { expiresAt: null }, { expiresAt: later }]) {
    const refused = await own('POST', path, body)
    assert.deepEqual([refused.status, refused.body.details], [403, { expiresAt }])
  }
  assert.equal((await own('POST', path, { expiresAt })).status, 201)
})
