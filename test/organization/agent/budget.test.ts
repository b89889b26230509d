import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SYSTEM } from '../../../src/access/caller/caller.ts'
import { pauseForBudget, resumeFromBudget } from '../../../src/organization/agent/pause-for-budget.ts'
import { requestWake } from '../../../src/organization/agent/request-wake.ts'
import { agentSpend } from '../../../src/organization/cost/queries.ts'
import { findWaitingWake } from '../../../src/organization/wake/queries.ts'
import { asAgent, insertSpend } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'

test('an agent paused for its budget keeps its wake, and resumes in the next month', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { budgetMonthlyCents: 100 })
  insertSpend(app.ctx, agent, 100)
  assert.equal(agentSpend(app.ctx.db, { companyId: agent.companyId, agentId: agent.id, now: app.ctx.now }), 1_000_000)
  await app.ctx.write(() => requestWake(app.ctx, SYSTEM, { agentId: agent.id, source: 'timer' }))
  assert.equal(await app.ctx.write(() => pauseForBudget(app.ctx, agent.id)), true)
  assert.equal(await app.ctx.write(() => pauseForBudget(app.ctx, agent.id)), false)
  const paused = (await app.request('GET', `/api/agents/${agent.id}`)).body
  assert.deepEqual([paused.status, paused.pauseReason, paused.budgetStatus], ['paused', 'budget', 'exceeded'])
  assert.ok(findWaitingWake(app.ctx.db, { agentId: agent.id }))
  assert.equal(await app.ctx.write(() => resumeFromBudget(app.ctx, agent.id)), false)
  app.clock.set('2026-12-01T00:00:00.000Z')
  assert.equal(await app.ctx.write(() => resumeFromBudget(app.ctx, agent.id)), true)
  assert.equal((await app.request('GET', `/api/agents/${agent.id}`)).body.status, 'idle')
})

test('a budget up to the spend pauses the agent; a higher budget or none resumes it', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app))
  insertSpend(app.ctx, agent, 100)
  const budget = async (budgetMonthlyCents: number) => {
    const { status, pauseReason } = await app.make('PATCH', `/api/agents/${agent.id}/budgets`, { budgetMonthlyCents })
    return [status, pauseReason]
  }
  assert.deepEqual(await budget(100), ['paused', 'budget'])
  assert.deepEqual(await budget(101), ['idle', null])
  assert.deepEqual(await budget(50), ['paused', 'budget'])
  assert.deepEqual(await budget(0), ['idle', null])
})

test('a budget change does not resume an agent that was paused manually', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { budgetMonthlyCents: 100 })
  await app.make('POST', `/api/agents/${agent.id}/pause`)
  const { status } = await app.make('PATCH', `/api/agents/${agent.id}/budgets`, { budgetMonthlyCents: 200 })
  assert.equal(status, 'paused')
})

test('a manager may set the budgets of its reports, up to its own budget', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss', budgetMonthlyCents: 1_000 })
  const middle = await makeAgent(app, companyId, { name: 'Middle', reportsTo: boss.id })
  const low = await makeAgent(app, companyId, { name: 'Low', reportsTo: middle.id })
  const request = await asAgent(app, boss)
  const set = async (id: string, budgetMonthlyCents: number) =>
    (await request('PATCH', `/api/agents/${id}/budgets`, { budgetMonthlyCents })).status
  assert.equal(await set(low.id, 1_000), 200)
  assert.equal(await set(middle.id, 400), 200)
  assert.equal(await set(low.id, 1_001), 403)
  assert.equal(await set(low.id, 0), 403, 'no limit is more than its own')
  assert.equal(await set(boss.id, 2_000), 403, 'nobody sets its own')
  const below = await asAgent(app, middle)
  assert.equal((await below('PATCH', `/api/agents/${boss.id}/budgets`, { budgetMonthlyCents: 1 })).status, 403)
  const ic = await asAgent(app, low)
  assert.equal((await ic('PATCH', `/api/agents/${low.id}/budgets`, { budgetMonthlyCents: 1 })).status, 403)
})
