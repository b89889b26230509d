import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Context } from '../../../src/platform/context.ts'
import type { Db } from '../../../src/platform/database/db.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { NO_FACTS } from '../../../src/runtime/executor/facts.ts'
import { finishRun } from '../../../src/runtime/executor/finish.ts'
import { figuresOf, idleAgentsJob, STALE_COUNTED } from '../../../src/work/dashboard/dashboard.ts'
import { insertAgent, insertManyIssues, insertRun, insertSpend } from '../../arrange.ts'
import { plansOf } from '../../plans.ts'
import { setUp } from '../issue/set-up.ts'

const HOUR = 3_600_000

test('the dashboard of a new company contains only zeros, with one entry for each of the last 14 days', async (t) => {
  const { request, make } = await setUp(t)
  const { id } = await make('POST', '/api/companies', { name: 'Empty' })
  const { status, body } = await request('GET', `/api/companies/${id}/dashboard`)
  assert.equal(status, 200)
  assert.deepEqual(body.tasks, { ...body.tasks, open: 0, inProgress: 0, inReview: 0, blocked: 0, done: 0 })
  assert.equal(body.runActivity.length, 14)
  assert.deepEqual(body.runActivity[13], { date: '2026-11-21', succeeded: 0, failed: 0, other: 0, total: 0 })
  assert.equal(body.runActivity[0].date, '2026-11-08')
  assert.deepEqual([body.staleTasks, body.pendingApprovals, body.idleRuns.runs], [0, 0, 0])
})

test('the dashboard counts agents, tasks, spend and approvals', async (t) => {
  const app = await setUp(t)
  const of = { company_id: app.company.id }
  const paused = { ...of, status: 'paused', pause_reason: 'manual' } as const
  insertAgent(app, paused)
  insertAgent(app, { ...of, status: 'pending_approval' })
  await insertRun(app, app.ada)
  for (const status of ['todo', 'todo', 'backlog', 'blocked', 'done', 'cancelled']) await app.create({ status })
  const moving = await app.create()
  await app.ada.request('POST', `/api/issues/${moving.id}/checkout`)
  insertSpend(app.ctx, app.ada, 250)
  await app.make('PATCH', `/api/companies/${app.company.id}`, { budgetMonthlyCents: 1_000 })
  await app.cleo.request('POST', `/api/companies/${app.company.id}/approvals`, {
    type: 'approve_ceo_strategy',
    payload: { plan: 'Grow' },
  })
  const { body } = await app.ada.request('GET', `/api/companies/${app.company.id}/dashboard`)
  const { byStatus: _, ...agents } = body.agents
  assert.deepEqual(agents, { active: 3, running: 1, paused: 1, error: 0, pendingApproval: 1 })
  const { byStatus, ...tasks } = body.tasks
  assert.deepEqual(tasks, { open: 5, inProgress: 1, inReview: 0, blocked: 1, done: 1 })
  assert.deepEqual([byStatus.todo, byStatus.cancelled], [2, 1])
  assert.deepEqual(body.costs, { monthSpendCents: 250, monthBudgetCents: 1_000, monthUtilizationPercent: 25 })
  assert.equal(body.pendingApprovals, 1)
})

test('an issue in progress is stale if it has had no change for a long time and no live run', async (t) => {
  const app = await setUp(t)
  const dashboard = `/api/companies/${app.company.id}/dashboard`
  const [forgotten, worked, commented] = [await app.create(), await app.create(), await app.create()]
  for (const issue of [forgotten, worked, commented]) {
    await app.make('POST', `/api/issues/${issue.id}/checkout`, { agentId: app.ada.id })
  }
  await insertRun(app, app.ada, { issue_id: worked.id })
  app.clock.move(2 * HOUR)
  await app.make('POST', `/api/issues/${commented.id}/comments`, { body: 'Still on it.' })
  const { body } = await app.request('GET', dashboard)
  assert.equal(body.staleTasks, 1)
  assert.deepEqual([body.staleTaskList[0].id, body.staleTaskList[0].assigneeName], [forgotten.id, 'Ada'])
  assert.equal((await app.request('GET', `${dashboard}?staleAfterSec=10800`)).body.staleTasks, 0)
  assert.equal((await app.request('GET', `${dashboard}?staleAfterSec=soon`)).status, 400)
})

const EXITED = { reason: 'exited', exitCode: 0, signal: null, error: null, at: null } as const

const end = (ctx: Context, id: string) => ctx.write(() => finishRun(ctx, id, EXITED, NO_FACTS))

test('the dashboard counts runs without changes and their costs, including costs recorded later', async (t) => {
  const app = await setUp(t)
  const issue = await app.create()
  const [idle, busy] = [await insertRun(app, app.ada), await insertRun(app, app.bob)]
  await busy.request('POST', `/api/issues/${issue.id}/comments`, { body: 'Done something.' })
  const cost = (run: string, agentId: string, costCents: number) =>
    app.make('POST', `/api/companies/${app.company.id}/cost-events`, {
      ...{ agentId, runId: run, provider: 'p', model: 'm', costCents },
    })
  await cost(idle.id, app.ada.id, 30)
  await cost(busy.id, app.bob.id, 70)
  await end(app.ctx, idle.id)
  await end(app.ctx, busy.id)
  await cost(idle.id, app.ada.id, 5)
  const { body } = await app.request('GET', `/api/companies/${app.company.id}/dashboard`)
  assert.deepEqual(body.idleRuns, {
    runs: 1,
    costCents: 35,
    byAgent: [{ agentId: app.ada.id, agentName: 'Ada', runs: 1, idleRuns: 1, costCents: 35 }],
  })
  assert.deepEqual(body.runActivity.at(-1), { date: '2026-11-21', succeeded: 2, failed: 0, other: 0, total: 2 })
  assert.equal((await app.request('GET', `/api/runs/${idle.id}`)).body.idle, true)
  assert.equal((await app.request('GET', `/api/runs/${busy.id}`)).body.idle, false)
})

test('with 20,000 issues the dashboard reads only the rows that it displays', async (t) => {
  const app = await setUp(t)
  const { ctx, company } = app
  const dashboard = (db: Db) => {
    const wanted = { companyId: company.id, from: '2026-11-08', limit: 20 }
    figuresOf(Object.create(ctx, { db: { value: db } }), company.id, { staleAfterSec: 3_600, days: ['2026-11-08'] })
    idleAgentsJob.run(db, wanted, () => {})
  }
  await ctx.write(() => insertManyIssues(ctx, app.ada, 20_000))
  app.clock.move(2 * HOUR)
  const plans = plansOf(ctx, dashboard)
  assert.ok(plans.length > 5)
  const ofIssues = plans.filter((step) => /\b(SCAN|SEARCH) issue\b/.test(step))
  // The only query of issues reads those in progress, least recently changed first, by a partial index.
  assert.ok(ofIssues.length > 0)
  for (const step of ofIssues) assert.match(step, /SEARCH issue USING( COVERING)? INDEX issue_in_progress /, step)
  for (const table of [
    'run',
    'run_total',
    'company_run_total',
    'cost_event',
    'cost_total',
    'activity',
    'approval',
    'agent',
  ]) {
    assert.ok(!plans.some((step) => new RegExp(`^SCAN ${table}\\b`).test(step)), `${table}: ${plans.join('\n')}`)
  }
  const { body } = await app.request('GET', `/api/companies/${company.id}/dashboard`)
  assert.equal(body.tasks.open + body.tasks.done + body.tasks.byStatus.cancelled, 20_000)
  assert.equal(body.staleTasks, STALE_COUNTED)
  assert.equal(body.staleTaskList.length, 50)
  const stats = (await app.request('GET', '/api/companies/stats')).body[company.id]
  assert.deepEqual([stats.issueCount, stats.openIssueCount], [20_000, body.tasks.open])
})

test('the counts are updated after each status change and each deletion', async (t) => {
  const app = await setUp(t)
  const issue = await app.create({ status: 'backlog' })
  await app.patch(issue, { status: 'todo' })
  await app.patch(issue, { status: 'cancelled' })
  const rows = () => app.ctx.db.all(sql.selectFrom('issue_count').select(['status', 'n']).where('n', '>', 0))
  assert.deepEqual(rows(), [{ status: 'cancelled', n: 1 }])
  await app.make('DELETE', `/api/companies/${app.company.id}`, { confirm: 'Walrus' })
  assert.deepEqual(app.ctx.db.all(sql.selectFrom('issue_count').selectAll()), [])
})
