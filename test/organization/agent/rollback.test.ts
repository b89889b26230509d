import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { asAgent } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { makeAgent, makeCompany, plainConfig } from '../../make.ts'

const revisions = async (app: TestApp, id: string) =>
  (await app.request('GET', `/api/agents/${id}/config-revisions`)).body

const rollBack = (app: TestApp, id: string, revisionId: string) =>
  app.request('POST', `/api/agents/${id}/config-revisions/${revisionId}/rollback`)

test('a rollback restores the configuration with its secrets, and creates a revision', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss' })
  const adapterConfig = { model: 'm1', env: { KEY: 'first' } }
  const runtimeConfig = { heartbeat: { enabled: true, intervalSec: 600 } }
  const agent = await makeAgent(app, companyId, { adapterConfig, runtimeConfig, reportsTo: boss.id })
  await app.make('PATCH', `/api/agents/${agent.id}`, {
    name: 'Zed',
    reportsTo: null,
    adapterConfig: { model: null, env: { KEY: 'second' } },
    runtimeConfig: { heartbeat: { enabled: false } },
    budgetMonthlyCents: 700,
  })
  const [, created] = await revisions(app, agent.id)
  assert.equal(created.source, 'create')
  assert.equal(created.beforeConfig, null)
  const { status, body } = await rollBack(app, agent.id, created.id)
  assert.equal(status, 200)
  assert.equal(body.name, 'Ann')
  assert.equal(body.reportsTo, boss.id)
  assert.deepEqual(body.runtimeConfig, runtimeConfig)
  assert.deepEqual(plainConfig(app, agent.id), adapterConfig)
  assert.equal(body.budgetMonthlyCents, 700, 'a rollback raises no limit')
  const state = (await app.request('GET', `/api/agents/${agent.id}/runtime-state`)).body
  assert.equal(state.timerDueAt, '2026-11-21T09:10:00.000Z')

  const [last, patched] = await revisions(app, agent.id)
  assert.equal(last.source, 'rollback')
  assert.equal(last.rolledBackFromRevisionId, created.id)
  await rollBack(app, agent.id, patched.id)
  assert.deepEqual(plainConfig(app, agent.id), { env: { KEY: 'second' } })
})

test('a rollback never stores a placeholder as a secret', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { adapterConfig: { env: { KEY: 'real' } } })
  const [revision] = await revisions(app, agent.id)
  const after = { ...revision.afterConfig, adapterConfig: { env: { KEY: '[redacted]' } } }
  await app.ctx.write(() =>
    app.ctx.db.run(sql.updateTable('config_revision').set({ after_config: JSON.stringify(after) })),
  )
  const { status, body } = await rollBack(app, agent.id, revision.id)
  assert.equal(status, 422)
  assert.match(body.error, /adapterConfig\.env\.KEY/)
  assert.deepEqual(plainConfig(app, agent.id), { env: { KEY: 'real' } })
})

test('a rollback to a terminated manager or to a reporting cycle is 422', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss' })
  const agent = await makeAgent(app, companyId, { reportsTo: boss.id })
  const [created] = await revisions(app, agent.id)
  await app.make('PATCH', `/api/agents/${agent.id}`, { reportsTo: null })
  await app.make('PATCH', `/api/agents/${boss.id}`, { reportsTo: agent.id })
  assert.equal((await rollBack(app, agent.id, created.id)).status, 422)
  await app.make('POST', `/api/agents/${boss.id}/terminate`)
  assert.equal((await rollBack(app, agent.id, created.id)).status, 422)
})

test('a revision that is unknown or of another agent is 404, and only the board may roll back', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId, { role: 'ceo' })
  const other = await makeAgent(app, companyId)
  const [revision] = await revisions(app, other.id)
  assert.equal((await rollBack(app, agent.id, revision.id)).status, 404)
  assert.equal((await rollBack(app, agent.id, 'nope')).status, 404)
  const request = await asAgent(app, agent)
  const [own] = await revisions(app, agent.id)
  const path = `/api/agents/${agent.id}/config-revisions/${own.id}/rollback`
  assert.equal((await request('POST', path)).status, 403)
})
