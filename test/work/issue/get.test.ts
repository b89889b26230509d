import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertAgent, insertGoal, insertProject, insertRun, insertWorkspace } from '../../arrange.ts'
import { setUp } from './set-up.ts'

test('an issue can be read by its id, and by its identifier in any case', async (t) => {
  const { create, request } = await setUp(t)
  const issue = await create()
  for (const ref of [issue.id, 'WAL-1', 'wal-1']) {
    const { status, body } = await request('GET', `/api/issues/${ref}`)
    assert.equal(status, 200)
    assert.equal(body.id, issue.id)
  }
})

test('an unknown issue and an issue of another company return 404', async (t) => {
  const app = await setUp(t)
  const elsewhere = await app.make('POST', '/api/companies', { name: 'Elsewhere' })
  const stranger = insertAgent(app, { company_id: elsewhere.id })
  const issue = await app.create()
  for (const ref of ['nothing', 'WAL-99', "'; drop table issue"]) {
    assert.equal((await app.request('GET', `/api/issues/${encodeURIComponent(ref)}`)).status, 404)
  }
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/comments'],
    ['GET', '/activity'],
    ['GET', '/heartbeat-context'],
    ['POST', '/release'],
  ] as const) {
    assert.equal((await stranger.request(method, `/api/issues/${issue.id}${path}`)).status, 404, path)
  }
  assert.equal((await stranger.request('PATCH', `/api/issues/${issue.id}`, { title: 'Mine' })).status, 404)
  assert.equal((await stranger.request('GET', app.issues)).status, 403)
})

test('an issue includes its project, its goal and its ancestors, nearest first, each with their own', async (t) => {
  const { create, request, ctx, company, ada } = await setUp(t)
  const of = { company_id: company.id }
  const goalId = insertGoal(ctx, { ...of, title: 'Grow', description: 'By ten percent', level: 'company' })
  const projectId = insertProject(ctx, { ...of, name: 'Site' })
  ctx.db.run(sql.insertInto('project_goal').values({ project_id: projectId, goal_id: goalId, position: 0 }))
  insertWorkspace(ctx, { ...of, project_id: projectId, name: 'Docs' })
  const primary = insertWorkspace(ctx, { ...of, project_id: projectId, name: 'Main', is_primary: 1 })
  const top = await create({ title: 'Top', goalId, description: 'All of it', assigneeAgentId: ada.id })
  const middle = await create({ title: 'Middle', parentId: top.id, goalId: null, projectId, priority: 'high' })
  const issue = await create({ title: 'Leaf', parentId: middle.id, goalId })

  const { body } = await request('GET', `/api/issues/${issue.id}`)
  assert.equal(body.project.primaryWorkspace.id, primary)
  assert.deepEqual(
    body.project.workspaces.map((workspace: { name: string }) => workspace.name),
    ['Docs', 'Main'],
  )
  assert.deepEqual(body.project.goalIds, [goalId])
  assert.equal(body.goal.description, 'By ten percent')
  const [parent, grandparent, ...more] = body.ancestors
  assert.deepEqual(more, [])
  assert.deepEqual([parent.id, parent.priority, parent.goal, parent.project.id], [middle.id, 'high', null, projectId])
  const { goal, ...rest } = grandparent
  assert.equal(goal.id, goalId)
  assert.deepEqual(rest, {
    id: top.id,
    identifier: 'WAL-1',
    title: 'Top',
    description: 'All of it',
    status: 'todo',
    priority: 'medium',
    assigneeAgentId: ada.id,
    projectId: null,
    goalId,
    project: null,
  })
})

test('heartbeat-context returns the issue, its purpose and the comment that woke the agent in one request', async (t) => {
  const app = await setUp(t)
  const { create, make, ada, request } = app
  const issue = await create({ assigneeAgentId: ada.id })
  const comments = `/api/issues/${issue.id}/comments`
  const first = await make('POST', comments, { body: 'One' })
  const last = await make('POST', comments, { body: 'Two' })
  const reasons = JSON.stringify([{ source: 'issue_commented', issueId: issue.id, commentId: first.id }])
  const run = await insertRun(app, ada, { reasons })
  const { body } = await run.request('GET', `/api/issues/${issue.id}/heartbeat-context`)
  assert.equal(body.issue.id, issue.id)
  assert.deepEqual(body.ancestors, [])
  assert.deepEqual(body.wakeComment, first)
  assert.deepEqual(body.commentCursor, {
    totalComments: 2,
    latestCommentId: last.id,
    latestCommentAt: last.createdAt,
  })
  const other = await request('GET', `/api/issues/${issue.id}/heartbeat-context?wakeCommentId=${last.id}`)
  assert.deepEqual(other.body.wakeComment, last)
})

test('heartbeat-context returns the attachments, the documents without texts, and the open approvals', async (t) => {
  const { create, request, make, company, cleo } = await setUp(t)
  const issue = await create()
  const form = new FormData()
  form.set('file', new File(['notes'], 'notes.txt'))
  const attachment = (await request('POST', `/api/issues/${issue.id}/attachments`, form)).body
  const { body: _, ...document } = await make('PUT', `/api/issues/${issue.id}/documents/plan`, { body: '# Plan' })
  const approval = (
    await cleo.request('POST', `/api/companies/${company.id}/approvals`, {
      ...{ type: 'approve_ceo_strategy', payload: { plan: 'Grow' }, issueIds: [issue.id] },
    })
  ).body
  const context = async () => (await request('GET', `/api/issues/${issue.id}/heartbeat-context`)).body
  const { attachments, documents, approvals } = await context()
  assert.deepEqual(attachments, [attachment])
  assert.deepEqual(documents, [document])
  assert.deepEqual(approvals, [{ id: approval.id, type: 'approve_ceo_strategy', status: 'pending' }])
  await make('POST', `/api/approvals/${approval.id}/approve`)
  assert.deepEqual((await context()).approvals, [])
})

test('the runs of an issue are listed newest first, also by its identifier', async (t) => {
  const app = await setUp(t)
  const issue = await app.create()
  const first = await insertRun(app, app.ada, { issue_id: issue.id, status: 'failed', finished_at: app.ctx.now })
  const second = await insertRun(app, app.ada, { issue_id: issue.id })
  await insertRun(app, app.bob)
  const runs = async (query = '') =>
    (await app.request('GET', `/api/issues/${issue.identifier}/runs${query}`)).body.map((run: { id: string }) => run.id)
  assert.deepEqual(await runs(), [second.id, first.id])
  assert.deepEqual(await runs('?status=failed'), [first.id])
  assert.equal(
    (await app.request('GET', `/api/issues/${issue.id}/runs?limit=1`)).headers.get('link')?.includes('after='),
    true,
  )
})

test('the activity returns the number of entries, and can be filtered by run', async (t) => {
  const app = await setUp(t)
  const issue = await app.create()
  const run = await insertRun(app, app.ada)
  await run.request('POST', `/api/issues/${issue.id}/comments`, { body: 'Here.' })
  const all = await app.request('GET', `/api/companies/${app.company.id}/activity?count=true&limit=1`)
  assert.deepEqual([all.body.length, all.headers.get('x-total-count')], [1, '3'])
  const own = await app.request('GET', `/api/companies/${app.company.id}/activity?runId=${run.id}`)
  assert.deepEqual(
    own.body.map((entry: { action: string }) => entry.action),
    ['issue.commented'],
  )
  const ofIssue = await app.request('GET', `/api/issues/${issue.id}/activity?count=true`)
  assert.equal(ofIssue.headers.get('x-total-count'), '2')
})
