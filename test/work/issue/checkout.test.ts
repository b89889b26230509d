import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { ISSUE_STATUSES, NEXT } from '../../../src/work/issue/lifecycle.ts'
import { forgetWakes, insertAgent, insertRun, insertSpend, wakeReasons } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

async function setUp(t: TestContext) {
  const app = createTestApp(t)
  const company = await app.make('POST', '/api/companies', { name: 'Walrus' })
  const agent = insertAgent(app, { company_id: company.id, name: 'Ada' })
  const other = insertAgent(app, { company_id: company.id, name: 'Bob' })
  const create = (body: object = {}) =>
    app.make('POST', `/api/companies/${company.id}/issues`, { title: 'Do', ...body })
  return { ...app, company, agent, other, create }
}

test('an agent checks out a free issue, and the activity records it', async (t) => {
  const { agent, create, request, clock, company } = await setUp(t)
  const issue = await create()
  clock.move(1_000)
  const { status, body } = await agent.request('POST', `/api/issues/${issue.id}/checkout`, { agentId: agent.id })
  assert.equal(status, 200)
  assert.equal(body.status, 'in_progress')
  assert.equal(body.assigneeAgentId, agent.id)
  assert.equal(body.started_at, '2026-11-21T09:00:01.000Z')
  const [entry] = (await request('GET', `/api/companies/${company.id}/activity`)).body
  assert.equal(entry.action, 'issue.checked_out')
  assert.equal(entry.agentId, agent.id)
  assert.equal(entry.entityId, issue.id)
  assert.deepEqual(entry.details, { identifier: 'WAL-1', from: 'todo', assigneeAgentId: agent.id })
})

test('a repeated checkout is a no-op, for any expected status', async (t) => {
  const { agent, create, clock, request, company } = await setUp(t)
  const issue = await create()
  const first = await agent.request('POST', `/api/issues/${issue.id}/checkout`)
  clock.move(60_000)
  const second = await agent.request('POST', `/api/issues/WAL-1/checkout`, { expectedStatuses: ['todo'] })
  assert.equal(second.status, 200)
  assert.deepEqual(second.body, first.body)
  assert.equal((await request('GET', `/api/companies/${company.id}/activity?action=issue.checked_out`)).body.length, 1)
})

for (const racers of [10, 32]) {
  test(`if ${racers} agents check out one issue concurrently, exactly one succeeds, and the others get the name of the holder`, async (t) => {
    const app = await setUp(t)
    const issue = await app.create()
    const agents = Array.from({ length: racers }, (_, n) =>
      insertAgent(app, { company_id: app.company.id, name: `Racer ${n}` }),
    )
    const responses = await Promise.all(agents.map((one) => one.request('POST', `/api/issues/${issue.id}/checkout`)))
    const won = responses.findIndex((response) => response.status === 200)
    const winner = agents[won]!
    assert.equal(responses.filter((response) => response.status === 200).length, 1)
    for (const response of responses.toSpliced(won, 1)) {
      assert.equal(response.status, 409)
      assert.equal(response.body.code, 'issue_taken')
      assert.equal(response.body.details.assigneeAgentId, winner.id)
      assert.equal(response.body.details.assigneeName, winner.name)
    }
    assert.equal((await app.request('GET', `/api/issues/${issue.id}`)).body.assigneeAgentId, winner.id)
  })
}

test('a 409 response contains the holder, the checkout time and the current run', async (t) => {
  const app = await setUp(t)
  const { agent, other, create, clock } = app
  const issue = await create()
  const run = await insertRun(app, agent)
  clock.move(5_000)
  assert.equal((await run.request('POST', `/api/issues/${issue.id}/checkout`)).status, 200)
  clock.move(5_000)
  const { status, body } = await other.request('POST', `/api/issues/${issue.id}/checkout`)
  assert.equal(status, 409)
  const { hint, ...details } = body.details
  assert.match(hint, /Do not retry/)
  assert.deepEqual(details, {
    issueId: issue.id,
    status: 'in_progress',
    assigneeAgentId: agent.id,
    assigneeUserId: null,
    assigneeName: 'Ada',
    runId: run.id,
    runLive: true,
    since: '2026-11-21T09:00:05.000Z',
  })
})

for (const status of ISSUE_STATUSES) {
  const can = NEXT[status].includes('in_progress')
  test(`a free issue that is ${status} ${can ? 'can' : 'cannot'} be checked out`, async (t) => {
    const { agent, create, request } = await setUp(t)
    const held = status === 'in_progress' ? { assigneeUserId: 'somebody' } : {}
    const issue = await create({ status, ...held })
    const response = await agent.request('POST', `/api/issues/${issue.id}/checkout`)
    assert.equal(response.status, can ? 200 : 409)
    const after = (await request('GET', `/api/issues/${issue.id}`)).body
    assert.equal(after.status, can ? 'in_progress' : status)
    assert.equal(after.assigneeAgentId, can ? agent.id : null)
  })
}

for (const status of ['done', 'cancelled']) {
  test(`an issue that is ${status} cannot be checked out with that expected status`, async (t) => {
    const { agent, create } = await setUp(t)
    const issue = await create({ status })
    const { status: code, body } = await agent.request('POST', `/api/issues/${issue.id}/checkout`, {
      expectedStatuses: ['todo', status],
    })
    assert.equal(code, 422)
    assert.equal(body.code, 'invalid_transition')
  })
}

test('a checkout of a backlog issue passes through todo if the request expects backlog', async (t) => {
  const { agent, create, request } = await setUp(t)
  const issue = await create({ status: 'backlog' })
  const { status, body } = await agent.request('POST', `/api/issues/${issue.id}/checkout`, {
    expectedStatuses: ['todo', 'backlog'],
  })
  assert.equal(status, 200)
  assert.equal(body.status, 'in_progress')
  const [second, first] = (await request('GET', `/api/issues/${issue.id}/activity`)).body
  assert.deepEqual(first.details.changes, { status: { from: 'backlog', to: 'todo' } })
  assert.equal(second.action, 'issue.checked_out')
  assert.equal(second.details.from, 'todo')
})

test('a checkout with another expected status returns 409 and changes nothing', async (t) => {
  const { agent, create, request } = await setUp(t)
  const issue = await create({ status: 'blocked' })
  const { status, body } = await agent.request('POST', `/api/issues/${issue.id}/checkout`, {
    expectedStatuses: ['todo'],
  })
  assert.equal(status, 409)
  assert.equal(body.code, 'status_not_expected')
  assert.equal((await request('GET', `/api/issues/${issue.id}`)).body.status, 'blocked')
})

test('a checkout of an issue with another assignee is refused, even in todo', async (t) => {
  const { agent, other, create } = await setUp(t)
  const assigned = await create({ assigneeAgentId: other.id })
  const personal = await create({ assigneeUserId: 'local-board' })
  for (const [issue, name] of [
    [assigned, 'Bob'],
    [personal, 'local-board'],
  ]) {
    const { status, body } = await agent.request('POST', `/api/issues/${issue.id}/checkout`)
    assert.equal(status, 409)
    assert.equal(body.code, 'issue_taken')
    assert.equal(body.details.assigneeName, name)
  }
})

test('a checkout by the assignee does not change who assigned the issue', async (t) => {
  const { agent, create, ctx } = await setUp(t)
  const issue = await create({ assigneeAgentId: agent.id })
  await agent.request('POST', `/api/issues/${issue.id}/checkout`)
  const row = ctx.db.first(sql.selectFrom('issue').selectAll().where('id', '=', issue.id))!
  assert.deepEqual([row.assigned_by_type, row.assigned_by_id], ['user', 'local-board'])
})

test('an agent can check out only for itself; the board can check out for any agent, and wakes it', async (t) => {
  const { agent, other, create, request, ctx } = await setUp(t)
  const issue = await create()
  const path = `/api/issues/${issue.id}/checkout`
  assert.equal((await agent.request('POST', path, { agentId: other.id })).status, 403)
  assert.equal((await request('POST', path, {})).status, 400)
  assert.equal((await request('POST', path, { agentId: 'nobody' })).status, 422)
  const { status, body } = await request('POST', path, { agentId: other.id })
  assert.equal(status, 200)
  assert.equal(body.assigneeAgentId, other.id)
  assert.deepEqual(
    wakeReasons(ctx, other).map((reason) => reason.source),
    ['issue_assigned'],
  )
})

test('a checkout by an agent wakes no agent', async (t) => {
  const { agent, create, ctx } = await setUp(t)
  const issue = await create()
  forgetWakes(ctx)
  await agent.request('POST', `/api/issues/${issue.id}/checkout`)
  assert.deepEqual(wakeReasons(ctx, agent), [])
})

test('a checkout sets the current run of the issue, also if the agent already holds the issue', async (t) => {
  const app = await setUp(t)
  const { agent, create, ctx, request } = app
  const issue = await create()
  await agent.request('POST', `/api/issues/${issue.id}/checkout`)
  const run = await insertRun(app, agent)
  assert.equal((await request('GET', `/api/issues/${issue.id}`)).body.activeRun, null)
  await run.request('POST', `/api/issues/${issue.id}/checkout`)
  assert.equal(ctx.db.first(sql.selectFrom('run').select('issue_id').where('id', '=', run.id))?.issue_id, issue.id)
  assert.equal((await request('GET', `/api/issues/${issue.id}`)).body.activeRun.id, run.id)
})

const notReady = [
  ['paused', { status: 'paused', pause_reason: 'manual', paused_at: '2026-11-21T09:00:00.000Z' }],
  ['terminated', { status: 'terminated' }],
  ['pending_approval', { status: 'pending_approval' }],
] as const
for (const [name, values] of notReady) {
  test(`an agent that is ${name} cannot check out`, async (t) => {
    const app = await setUp(t)
    const agent = insertAgent(app, { company_id: app.company.id, ...values })
    const issue = await app.create()
    const { status, body } = await app.request('POST', `/api/issues/${issue.id}/checkout`, { agentId: agent.id })
    assert.equal(status, 422)
    assert.equal(body.code, 'agent_not_ready')
  })
}

test('an agent that has spent its budget cannot check out before the next month', async (t) => {
  const app = await setUp(t)
  const agent = insertAgent(app, { company_id: app.company.id, budget_micros: 1_000_000 })
  const issue = await app.create()
  insertSpend(app.ctx, agent, 100)
  const refused = await agent.request('POST', `/api/issues/${issue.id}/checkout`)
  assert.equal(refused.status, 422)
  assert.equal(refused.body.code, 'budget_exceeded')
  assert.equal(refused.body.details.spentMonthlyCents, 100)
  app.clock.set('2026-12-01T00:00:00.000Z')
  assert.equal((await agent.request('POST', `/api/issues/${issue.id}/checkout`)).status, 200)
})

test('an agent cannot check out or start an issue with open blockers; the board can', async (t) => {
  const { ctx, agent, other, create, request, make } = await setUp(t)
  const [open, done] = [await create({ title: 'First' }), await create({ status: 'done' })]
  const issue = await create({ assigneeAgentId: agent.id, blockedByIssueIds: [open.id, done.id] })
  assert.deepEqual(wakeReasons(ctx, agent), [])

  const path = `/api/issues/${issue.id}`
  for (const refused of [
    await agent.request('POST', `${path}/checkout`),
    await agent.request('PATCH', path, { status: 'in_progress' }),
  ]) {
    assert.equal(refused.status, 422)
    assert.equal(refused.body.code, 'blocked')
    assert.match(refused.body.error, /WAL-3 is blocked by WAL-1 \(todo\)/)
    assert.deepEqual(
      refused.body.details.blockedBy.map((blocker: { id: string }) => blocker.id),
      [open.id],
    )
  }
  assert.equal((await other.request('POST', `${path}/checkout`)).body.code, 'issue_taken')
  assert.equal((await request('GET', path)).body.status, 'todo')

  await make('POST', `${path}/checkout`, { agentId: agent.id })
  assert.deepEqual(
    wakeReasons(ctx, agent).map((reason) => [reason.source, reason.issueId]),
    [['issue_assigned', issue.id]],
  )
  assert.equal((await agent.request('POST', `${path}/checkout`)).status, 200)
  await make('PATCH', path, { status: 'blocked' })
  await make('PATCH', `/api/issues/${open.id}`, { status: 'cancelled' })
  await make('PATCH', path, { status: 'todo' })
  assert.equal((await agent.request('POST', `${path}/checkout`)).status, 200)
})

test('while an issue is blocked, only comments and mentions wake its assignee', async (t) => {
  const { ctx, agent, create, make } = await setUp(t)
  const open = await create()
  const child = { assigneeAgentId: agent.id, blockedByIssueIds: [open.id] }
  const issue = await create(child)
  const sub = await create({ parentId: issue.id })
  await make('PATCH', `/api/issues/${sub.id}`, { status: 'cancelled' })
  await make('PATCH', `/api/issues/${issue.id}`, { assigneeAgentId: null })
  await make('PATCH', `/api/issues/${issue.id}`, { assigneeAgentId: agent.id })
  assert.deepEqual(wakeReasons(ctx, agent), [])
  await make('POST', `/api/issues/${issue.id}/comments`, { body: 'See WAL-1.' })
  await make('POST', `/api/issues/${issue.id}/comments`, { body: '@Ada see WAL-1.' })
  await make('PATCH', `/api/issues/${open.id}`, { status: 'cancelled' })
  assert.deepEqual(
    wakeReasons(ctx, agent).map((reason) => reason.source),
    ['issue_commented', 'mention', 'blockers_resolved'],
  )
})

test('a new blocker cancels a queued wake, but not a wake by a person or a comment', async (t) => {
  const { ctx, agent, create, make } = await setUp(t)
  const sources = () => wakeReasons(ctx, agent).map(({ source, issueId }) => [source, issueId])
  const blocker = await create()
  const issue = await create({ assigneeAgentId: agent.id })
  const other = await create({ assigneeAgentId: agent.id })
  await make('POST', `/api/issues/${issue.id}/comments`, { body: 'Mind the gap.' })
  await make('PATCH', `/api/issues/${issue.id}`, { blockedByIssueIds: [blocker.id] })
  assert.deepEqual(sources(), [
    ['issue_assigned', other.id],
    ['issue_commented', issue.id],
  ])
  forgetWakes(ctx)
  await make('POST', `/api/issues/${blocker.id}/close`)
  assert.deepEqual(sources(), [['blockers_resolved', issue.id]])
  await make('PATCH', `/api/issues/${blocker.id}`, { reopen: true })
  assert.deepEqual(sources(), [], 'the blocker is open again')
})

test('an agent cannot create an issue in progress with an open blocker; the board can', async (t) => {
  const { agent, create, make, company } = await setUp(t)
  const blocker = await create()
  const body = { title: 'Do', status: 'in_progress', assigneeAgentId: agent.id, blockedByIssueIds: [blocker.id] }
  const refused = await agent.request('POST', `/api/companies/${company.id}/issues`, body)
  assert.deepEqual([refused.status, refused.body.code], [422, 'blocked'])
  assert.deepEqual(
    refused.body.details.blockedBy.map((one: { id: string }) => one.id),
    [blocker.id],
  )
  assert.equal((await create(body)).status, 'in_progress')
  await make('POST', `/api/issues/${blocker.id}/close`)
  assert.equal((await agent.request('POST', `/api/companies/${company.id}/issues`, body)).status, 201)
})

test('agents of a company that is paused or over its budget cannot check out', async (t) => {
  const { agent, create, make, company } = await setUp(t)
  const issue = await create()
  const path = `/api/companies/${company.id}`
  const refused = async () => (await agent.request('POST', `/api/issues/${issue.id}/checkout`)).body.code
  await make('PATCH', path, { status: 'paused' })
  assert.equal(await refused(), 'agent_not_ready')
  await make('PATCH', path, { status: 'active', budgetMonthlyCents: 100, spentMonthlyCents: 100 })
  assert.equal(await refused(), 'budget_exceeded')
  await make('PATCH', path, { budgetMonthlyCents: 200 })
  assert.equal(await refused(), undefined)
})

test('an issue of another company returns 404', async (t) => {
  const app = await setUp(t)
  const elsewhere = await app.make('POST', '/api/companies', { name: 'Elsewhere' })
  const stranger = insertAgent(app, { company_id: elsewhere.id })
  const issue = await app.create()
  for (const ref of [issue.id, issue.identifier, 'nothing']) {
    assert.equal((await stranger.request('POST', `/api/issues/${ref}/checkout`)).status, 404)
  }
})

test('an agent that ends the last blocker of its own issue is woken once, unless it takes the issue in the same run', async (t) => {
  const { ctx, agent, create } = await setUp(t)
  const sources = () => wakeReasons(ctx, agent).map(({ source, issueId }) => [source, issueId])
  const first = await create({ assigneeAgentId: agent.id })
  const second = await create({ assigneeAgentId: agent.id, blockedByIssueIds: [first.id] })
  const third = await create({ assigneeAgentId: agent.id, blockedByIssueIds: [second.id] })
  const finish = async ({ id }: { id: string }) => {
    await agent.request('POST', `/api/issues/${id}/checkout`)
    assert.equal((await agent.request('PATCH', `/api/issues/${id}`, { status: 'done' })).status, 200)
  }
  forgetWakes(ctx)
  await finish(first)
  assert.deepEqual(sources(), [['blockers_resolved', second.id]])
  await finish(second)
  assert.deepEqual(sources(), [['blockers_resolved', third.id]])
  await finish(third)
  assert.deepEqual(sources(), [])
})
