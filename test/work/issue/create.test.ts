import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertAgent, insertGoal, insertProject, insertRun, wakeReasons } from '../../arrange.ts'
import { setUp } from './set-up.ts'

test('fields that clients of similar APIs always send are accepted only with their neutral value', async (t) => {
  const { create, request, issues } = await setUp(t)
  const neutral = { workMode: 'standard', requestDepth: 0, allowDuplicate: false, blockParentUntilDone: false }
  assert.equal((await create(neutral)).requestDepth, 0)
  for (const other of [
    { workMode: 'planning' },
    { requestDepth: 2 },
    { allowDuplicate: true },
    { blockParentUntilDone: true },
  ]) {
    const { status, body } = await request('POST', issues, { title: 'Do', ...other })
    assert.equal(status, 400)
    assert.equal(body.details.fields[0].path, Object.keys(other)[0])
  }
})

test('a new issue has default values, the next identifier and both spellings of its timestamps', async (t) => {
  const { create, company, activity } = await setUp(t)
  await create()
  const issue = await create({ title: '  Write it  ' })
  const { id, createdAt, ...rest } = issue
  assert.deepEqual(rest, {
    companyId: company.id,
    identifier: 'WAL-2',
    issueNumber: 2,
    title: 'Write it',
    description: null,
    status: 'todo',
    priority: 'medium',
    assigneeAgentId: null,
    assigneeUserId: null,
    parentId: null,
    projectId: null,
    goalId: null,
    labelIds: [],
    labels: [],
    blockedBy: [],
    blocks: [],
    createdByAgentId: null,
    createdByUserId: 'local-board',
    requestDepth: 0,
    billingCode: null,
    startedAt: null,
    completedAt: null,
    cancelledAt: null,
    started_at: null,
    completed_at: null,
    updatedAt: createdAt,
    unread: false,
  })
  const [entry] = await activity()
  assert.equal(entry.action, 'issue.created')
  assert.equal(entry.entityId, id)
  assert.equal(entry.details.identifier, 'WAL-2')
})

test('an issue can be created with any status, and has the timestamps of that status', async (t) => {
  const { create, ada, ctx } = await setUp(t)
  const times = async (status: string) => {
    const { startedAt, completedAt, cancelledAt } = await create({ status, assigneeAgentId: ada.id })
    return [startedAt, completedAt, cancelledAt]
  }
  assert.deepEqual(await times('in_progress'), [ctx.now, null, null])
  assert.deepEqual(await times('done'), [null, ctx.now, null])
  assert.deepEqual(await times('cancelled'), [null, null, ctx.now])
  assert.deepEqual(await times('blocked'), [null, null, null])
})

test('an issue in progress requires an assignee, and the refused request creates nothing', async (t) => {
  const { request, issues, create } = await setUp(t)
  const { status, body } = await request('POST', issues, { title: 'Do', status: 'in_progress' })
  assert.equal(status, 422)
  assert.equal(body.details.fields[0].path, 'status')
  assert.equal((await create()).identifier, 'WAL-1')
})

test('any agent of the company can create issues, which record the agent and its run', async (t) => {
  const app = await setUp(t)
  const run = await insertRun(app, app.bob)
  const { status, body } = await run.request('POST', app.issues, { title: 'Do' })
  assert.equal(status, 201)
  assert.equal(body.createdByAgentId, app.bob.id)
  assert.equal((await app.activity())[0].runId, run.id)
})

test('a child has the depth of its parent plus one, and inherits its project and goal by default', async (t) => {
  const { make, create, ctx, company } = await setUp(t)
  const goalId = insertGoal(ctx, { company_id: company.id })
  const projectId = insertProject(ctx, { company_id: company.id })
  const parent = await create({ goalId, projectId })
  const child = await make('POST', `/api/issues/${parent.identifier.toLowerCase()}/children`, { title: 'Part' })
  assert.deepEqual([child.parentId, child.requestDepth], [parent.id, 1])
  assert.deepEqual([child.projectId, child.goalId], [projectId, goalId])
  const other = await create({ parentId: child.identifier, projectId: null })
  assert.deepEqual([other.requestDepth, other.projectId, other.goalId], [2, null, goalId])
})

test('assigning wakes the assignee with the priority of the issue; a backlog issue wakes no agent', async (t) => {
  const { create, ada, bob, ctx } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, priority: 'high' })
  await create({ assigneeAgentId: bob.id, status: 'backlog' })
  const [reason, ...more] = wakeReasons(ctx, ada)
  assert.equal(more.length, 0)
  assert.equal(reason?.source, 'issue_assigned')
  assert.equal(reason?.issueId, issue.id)
  assert.deepEqual(wakeReasons(ctx, bob), [])
})

test('an agent that assigns an issue to itself is not woken', async (t) => {
  const { ada, issues, ctx } = await setUp(t)
  assert.equal((await ada.request('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).status, 201)
  assert.deepEqual(wakeReasons(ctx, ada), [])
})

for (const status of ['terminated', 'pending_approval'] as const) {
  test(`an agent that is ${status} cannot be assigned`, async (t) => {
    const app = await setUp(t)
    const agent = insertAgent(app, { company_id: app.company.id, status })
    const response = await app.request('POST', app.issues, { title: 'Do', assigneeAgentId: agent.id })
    assert.equal(response.status, 422)
    assert.equal(response.body.code, 'agent_not_ready')
  })
}

test('an unknown reference returns 422 and names the field', async (t) => {
  const app = await setUp(t)
  const elsewhere = await app.make('POST', '/api/companies', { name: 'Elsewhere' })
  const foreignAgent = insertAgent(app, { company_id: elsewhere.id })
  const foreignIssue = await app.make('POST', `/api/companies/${elsewhere.id}/issues`, { title: 'Do' })
  const foreignLabel = await app.make('POST', `/api/companies/${elsewhere.id}/labels`, { name: 'bug' })
  const faults: [string, object][] = [
    ['assigneeAgentId', { assigneeAgentId: foreignAgent.id }],
    ['assigneeAgentId', { assigneeAgentId: 'nobody' }],
    ['parentId', { parentId: foreignIssue.id }],
    ['parentId', { parentId: foreignIssue.identifier }],
    ['projectId', { projectId: 'nothing' }],
    ['goalId', { goalId: 'nothing' }],
    ['labelIds.0', { labelIds: [foreignLabel.id] }],
    ['blockedByIssueIds.0', { blockedByIssueIds: [foreignIssue.id] }],
    ['assigneeUserId', { assigneeAgentId: app.ada.id, assigneeUserId: 'local-board' }],
  ]
  for (const [field, body] of faults) {
    const { status, body: response } = await app.request('POST', app.issues, { title: 'Do', ...body })
    assert.equal(status, 422, field)
    assert.equal(response.details.fields[0].path, field)
  }
})

test('an error names every invalid field', async (t) => {
  const { request, issues } = await setUp(t)
  const { status, body } = await request('POST', issues, { status: 'open', priority: 'urgent', assignee: 'Ada' })
  assert.equal(status, 400)
  assert.deepEqual(body.details.fields.map((field: { path: string }) => field.path).sort(), [
    'assignee',
    'priority',
    'status',
    'title',
  ])
})

test('a CEO cannot create an issue in progress before its strategy is approved', async (t) => {
  const { cleo, issues } = await setUp(t)
  const body = { title: 'Do', status: 'in_progress', assigneeAgentId: cleo.id }
  const response = await cleo.request('POST', issues, body)
  assert.equal(response.status, 422)
  assert.equal(response.body.code, 'strategy_not_approved')
})
