import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SYSTEM } from '../../../src/access/caller/caller.ts'
import { AGENT_STATUSES, NEXT } from '../../../src/organization/agent/lifecycle.ts'
import { requestWake } from '../../../src/organization/agent/request-wake.ts'
import { findWaitingWake } from '../../../src/organization/wake/queries.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { asAgent, insertIssue, insertRunRow, insertSpend } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { actions, makeAgent, makeCompany } from '../../make.ts'

const TIMER = { heartbeat: { enabled: true, intervalSec: 600 } }

/** Collects the stop requests to the scheduler. */
function watchStops(t: TestContext, app: TestApp): unknown[] {
  const stops: unknown[] = []
  t.after(app.ctx.events.subscribe((event) => event.type === 'run.stopping' && stops.push(event.data)))
  return stops
}

const wake = (app: TestApp, agentId: string) =>
  app.ctx.write(() => requestWake(app.ctx, SYSTEM, { agentId, source: 'timer' }))

const hasWaitingWake = (app: TestApp, agentId: string) => findWaitingWake(app.ctx.db, { agentId }) !== undefined

const dueAt = async (app: TestApp, id: string) =>
  (await app.request('GET', `/api/agents/${id}/runtime-state`)).body.timerDueAt

const setStatus = (app: TestApp, id: string, status: (typeof AGENT_STATUSES)[number]) =>
  app.ctx.write(() =>
    app.ctx.db.run(
      sql
        .updateTable('agent')
        .set({ status, pause_reason: status === 'paused' ? 'manual' : null })
        .where('id', '=', id),
    ),
  )

test('a pause stops the runs, deletes the waiting wake and the timer, and records the reason', async (t) => {
  const app = createTestApp(t)
  const stops = watchStops(t, app)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId, { runtimeConfig: TIMER })
  const runId = insertRunRow(app.ctx, agent)
  await wake(app, agent.id)
  const { body } = await app.request('POST', `/api/agents/${agent.id}/pause`, { reason: 'Lunch.' })
  assert.deepEqual(
    [body.status, body.pauseReason, body.pauseMessage, body.pausedAt],
    ['paused', 'manual', 'Lunch.', app.ctx.now],
  )
  assert.equal(hasWaitingWake(app, agent.id), false)
  assert.equal(await dueAt(app, agent.id), null)
  assert.deepEqual(stops, [{ runId, reason: 'paused' }])
  assert.equal((await actions(app, companyId)).at(-1), 'agent.paused')
})

test('resuming an agent makes it idle, restarts its timer and resets its failure count', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { runtimeConfig: TIMER })
  await app.make('POST', `/api/agents/${agent.id}/pause`)
  await app.ctx.write(() => app.ctx.db.run(sql.updateTable('agent').set({ failures: 3, error_reason: 'x' })))
  app.clock.move(60_000)
  const { body } = await app.request('POST', `/api/agents/${agent.id}/resume`)
  assert.deepEqual([body.status, body.pauseReason, body.pauseMessage, body.errorReason], ['idle', null, null, null])
  const state = (await app.request('GET', `/api/agents/${agent.id}/runtime-state`)).body
  assert.equal(state.failures, 0)
  assert.equal(state.timerDueAt, '2026-11-21T09:11:00.000Z')
})

test('a second pause is a no-op', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId)
  const first = await app.make('POST', `/api/agents/${agent.id}/pause`)
  const before = await actions(app, companyId)
  app.clock.move(1_000)
  assert.deepEqual(await app.make('POST', `/api/agents/${agent.id}/pause`), first)
  assert.deepEqual(await actions(app, companyId), before)
})

test('schema.sql and lifecycle.ts agree on the statuses', (t) => {
  const app = createTestApp(t)
  const table = app.ctx.db.first(
    sql
      .selectFrom('sqlite_master' as never)
      .select('sql' as never)
      .where('name' as never, '=', 'agent' as never),
  ) as unknown as { sql: string }
  const checked = /status in \(([^)]+)\)/.exec(table.sql)![1]!.match(/\w+/g)
  assert.deepEqual(checked, [...AGENT_STATUSES])
})

for (const status of AGENT_STATUSES) {
  const may = NEXT[status].includes('paused') || status === 'paused'
  test(`an agent that is ${status} ${may ? 'can' : 'cannot'} be paused`, async (t) => {
    const app = createTestApp(t)
    const agent = await makeAgent(app, await makeCompany(app))
    await setStatus(app, agent.id, status)
    const response = await app.request('POST', `/api/agents/${agent.id}/pause`)
    assert.equal(response.status, may ? 200 : 422)
    if (!may) assert.equal(response.body.code, 'invalid_transition')
  })

  const resumes = status === 'paused' || status === 'error'
  test(`an agent that is ${status} ${resumes ? 'can' : 'cannot'} be resumed`, async (t) => {
    const app = createTestApp(t)
    const agent = await makeAgent(app, await makeCompany(app))
    await setStatus(app, agent.id, status)
    assert.equal((await app.request('POST', `/api/agents/${agent.id}/resume`)).status, resumes ? 200 : 422)
  })
}

test('an agent with an exceeded budget resumes only after a budget increase', async (t) => {
  const app = createTestApp(t)
  const agent = await makeAgent(app, await makeCompany(app), { budgetMonthlyCents: 100 })
  insertSpend(app.ctx, agent, 100)
  await app.make('POST', `/api/agents/${agent.id}/pause`)
  const { status, body } = await app.request('POST', `/api/agents/${agent.id}/resume`)
  assert.equal(status, 422)
  assert.equal(body.code, 'budget_exceeded')
  assert.match(body.error, /Raise its budget/)
  await app.make('PATCH', `/api/agents/${agent.id}/budgets`, { budgetMonthlyCents: 101 })
  assert.equal((await app.request('POST', `/api/agents/${agent.id}/resume`)).body.status, 'idle')
})

test('terminating an agent revokes its keys, deletes its wake and timer, releases its issues and wakes its manager', async (t) => {
  const app = createTestApp(t)
  const stops = watchStops(t, app)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss' })
  const agent = await makeAgent(app, companyId, { reportsTo: boss.id, runtimeConfig: TIMER })
  const { token } = await app.make('POST', `/api/agents/${agent.id}/keys`)
  const inRun = await asAgent(app, agent)
  const assigned = { assignee_agent_id: agent.id }
  const started = { status: 'in_progress' as const, started_at: app.ctx.now }
  const low = insertIssue(app.ctx, { company_id: companyId, ...assigned, status: 'blocked', priority: 'low' }).id
  const urgent = insertIssue(app.ctx, { company_id: companyId, ...assigned, ...started, priority: 'critical' }).id
  const done = insertIssue(app.ctx, {
    company_id: companyId,
    ...assigned,
    status: 'done',
    completed_at: app.ctx.now,
  }).id
  await wake(app, agent.id)

  const { body } = await app.request('POST', `/api/agents/${agent.id}/terminate`)
  assert.equal(body.status, 'terminated')
  assert.equal((await app.as(token)('GET', '/api/agents/me')).status, 401)
  assert.equal((await app.request('GET', `/api/agents/${agent.id}/keys`)).body[0].revokedAt, app.ctx.now)
  assert.equal((await inRun('GET', '/api/agents/me')).status, 401)
  assert.equal(hasWaitingWake(app, agent.id), false)
  assert.equal(await dueAt(app, agent.id), null)
  const live = app.ctx.db.all(sql.selectFrom('run').select('id').where('agent_id', '=', agent.id))
  assert.deepEqual(
    stops,
    live.map(({ id }) => ({ runId: id, reason: 'terminated' })),
  )
  assert.equal(live.length, 1)
  const rows = app.ctx.db.all(sql.selectFrom('issue').select(['id', 'status', 'assignee_agent_id']))
  assert.deepEqual(
    rows.map((row) => [row.id, row.status, row.assignee_agent_id]),
    [
      [low, 'blocked', null],
      [urgent, 'todo', null],
      [done, 'done', agent.id],
    ],
  )
  assert.equal(findWaitingWake(app.ctx.db, { agentId: boss.id })?.issue_id, urgent)
  assert.deepEqual((await actions(app, companyId)).slice(-3), ['agent.terminated', 'issue.released', 'issue.released'])
})

test('the reports of a terminated agent then report to its manager', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const boss = await makeAgent(app, companyId, { name: 'Boss' })
  const middle = await makeAgent(app, companyId, { name: 'Middle', reportsTo: boss.id })
  const low = await makeAgent(app, companyId, { name: 'Low', reportsTo: middle.id })
  await app.make('POST', `/api/agents/${middle.id}/terminate`)
  assert.equal((await app.request('GET', `/api/agents/${low.id}`)).body.reportsTo, boss.id)
  await app.make('POST', `/api/agents/${boss.id}/terminate`)
  assert.equal((await app.request('GET', `/api/agents/${low.id}`)).body.reportsTo, null)
})

test('a termination is final', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId)
  await app.make('POST', `/api/agents/${agent.id}/terminate`)
  const before = await actions(app, companyId)
  assert.equal((await app.request('POST', `/api/agents/${agent.id}/terminate`)).status, 200)
  for (const [method, path, body] of [
    ['PATCH', '', { name: 'B' }],
    ['PATCH', '/budgets', { budgetMonthlyCents: 5 }],
    ['PATCH', '/permissions', { canCreateAgents: false }],
    ['PATCH', '/instructions-path', { path: '/a.md' }],
    ['POST', '/resume', {}],
    ['POST', '/pause', {}],
    ['POST', '/keys', {}],
  ] as const) {
    assert.equal((await app.request(method, `/api/agents/${agent.id}${path}`, body)).status, 422, `${method} ${path}`)
  }
  assert.deepEqual(await actions(app, companyId), before)
})

for (const action of ['pause', 'resume', 'terminate']) {
  test(`only the board may ${action} an agent`, async (t) => {
    const app = createTestApp(t)
    const companyId = await makeCompany(app)
    const ceo = await makeAgent(app, companyId, { role: 'ceo' })
    const agent = await makeAgent(app, companyId, { reportsTo: ceo.id })
    const request = await asAgent(app, ceo)
    assert.equal((await request('POST', `/api/agents/${agent.id}/${action}`)).status, 403)
  })
}
