import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgetWakes, insertAgent, insertRun, wakeReasons } from '../../arrange.ts'
import { setUp } from './set-up.ts'

const bodies = (comments: { body: string }[]) => comments.map((comment) => comment.body)

test('a comment of an agent records its run, also in the activity', async (t) => {
  const app = await setUp(t)
  const issue = await app.create()
  const run = await insertRun(app, app.bob)
  app.clock.move(1_000)
  const { status, body } = await run.request('POST', `/api/issues/${issue.identifier}/comments`, { body: '**Done**' })
  assert.equal(status, 201)
  const { id, ...rest } = body
  assert.deepEqual(rest, {
    companyId: app.company.id,
    issueId: issue.id,
    authorType: 'agent',
    authorAgentId: app.bob.id,
    authorUserId: null,
    createdByRunId: run.id,
    body: '**Done**',
    createdAt: app.ctx.now,
    updatedAt: app.ctx.now,
  })
  assert.deepEqual((await app.request('GET', `/api/issues/${issue.id}/comments/${id}`)).body, body)
  const [entry] = await app.activity()
  assert.deepEqual([entry.action, entry.runId, entry.details.commentId], ['issue.commented', run.id, id])
  assert.equal((await app.request('GET', `/api/issues/${issue.id}`)).body.updatedAt, app.ctx.now)
})

test('a comment of the board has the user as its author', async (t) => {
  const { create, make } = await setUp(t)
  const issue = await create()
  const comment = await make('POST', `/api/issues/${issue.id}/comments`, { body: 'Go on' })
  assert.deepEqual([comment.authorType, comment.authorUserId, comment.authorAgentId], ['user', 'local-board', null])
})

test('a comment must have 1 to 100,000 characters and must not be blank', async (t) => {
  const { create, request } = await setUp(t)
  const path = `/api/issues/${(await create()).id}/comments`
  for (const body of ['', ' \n', 'x'.repeat(100_001)]) assert.equal((await request('POST', path, { body })).status, 400)
  assert.equal((await request('POST', path, { body: 'x'.repeat(100_000) })).status, 201)
})

test('comments are listed oldest first, in pages or after a given comment', async (t) => {
  const { create, make, request } = await setUp(t)
  const path = `/api/issues/${(await create()).id}/comments`
  const made = []
  for (const body of ['1', '2', '3', '4', '5']) made.push(await make('POST', path, { body }))
  assert.deepEqual((await request('GET', path)).body, made)
  assert.deepEqual(bodies((await request('GET', `${path}?order=desc&limit=2`)).body), ['5', '4'])
  const first = await request('GET', `${path}?limit=2&count=true`)
  assert.equal(first.headers.get('x-total-count'), '5')
  const next = /<([^>]*)>/.exec(first.headers.get('link')!)![1]!
  assert.deepEqual(bodies((await request('GET', next)).body), ['3', '4'])
  assert.deepEqual(bodies((await request('GET', `${path}?after=${made[2].id}`)).body), ['4', '5'])
  assert.deepEqual(bodies((await request('GET', `${path}?order=desc&after=${made[2].id}`)).body), ['2', '1'])
  const elsewhere = await make('POST', `/api/issues/${(await create()).id}/comments`, { body: 'x' })
  for (const after of [elsewhere.id, 'nonsense'])
    assert.equal((await request('GET', `${path}?after=${after}`)).status, 400)
  assert.equal((await request('GET', `${path}/${elsewhere.id}`)).status, 404)
})

test('a comment wakes the assignee, unless the assignee wrote it', async (t) => {
  const { create, make, ada, ctx } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, priority: 'high' })
  forgetWakes(ctx)
  await ada.request('POST', `/api/issues/${issue.id}/comments`, { body: 'Begun' })
  assert.deepEqual(wakeReasons(ctx, ada), [])
  const comment = await make('POST', `/api/issues/${issue.id}/comments`, { body: 'Good' })
  const [reason, ...more] = wakeReasons(ctx, ada)
  assert.deepEqual([reason?.source, reason?.issueId, reason?.commentId], ['issue_commented', issue.id, comment.id])
  assert.deepEqual(more, [])
})

test('a mention wakes each agent with that name once, and never the author', async (t) => {
  const app = await setUp(t)
  const { create, ada, bob, mia, ctx, company, activity } = app
  const secondBob = insertAgent(app, { company_id: company.id, name: 'BOB' })
  const gone = insertAgent(app, { company_id: company.id, name: 'Bob', status: 'terminated' })
  const issue = await create({ assigneeAgentId: ada.id })
  forgetWakes(ctx)
  const body = '@bob, @Bob: see `@Mia`. @Ada'
  const comment = (await bob.request('POST', `/api/issues/${issue.id}/comments`, { body })).body
  assert.deepEqual(wakeReasons(ctx, bob), [])
  for (const one of [gone, mia]) assert.deepEqual(wakeReasons(ctx, one), [])
  for (const one of [secondBob, ada]) {
    assert.deepEqual(
      wakeReasons(ctx, one).map((reason) => [reason.source, reason.commentId]),
      [['mention', comment.id]],
    )
  }
  assert.deepEqual((await activity())[0].details.mentionedAgentIds.toSorted(), [ada.id, bob.id, secondBob.id].sort())
})

test('a mention in the comment of an update wakes the agent', async (t) => {
  const { create, patch, bob, ctx } = await setUp(t)
  const issue = await create()
  await patch(issue, { comment: '@Bob, yours?' })
  assert.deepEqual(
    wakeReasons(ctx, bob).map((reason) => reason.source),
    ['mention'],
  )
})

test('agents of another company cannot be mentioned', async (t) => {
  const app = await setUp(t)
  const elsewhere = await app.make('POST', '/api/companies', { name: 'Elsewhere' })
  const stranger = insertAgent(app, { company_id: elsewhere.id, name: 'Eve' })
  await app.make('POST', `/api/issues/${(await app.create()).id}/comments`, { body: '@Eve' })
  assert.deepEqual(wakeReasons(app.ctx, stranger), [])
})

test('a comment with reopen reopens a closed issue, if the author has permission', async (t) => {
  const { create, make, request, ada, bob } = await setUp(t)
  const issue = await create({ status: 'done', assigneeAgentId: ada.id })
  const path = `/api/issues/${issue.id}/comments`
  const statusOf = async () => (await request('GET', `/api/issues/${issue.id}`)).body.status
  await make('POST', path, { body: 'Not quite' })
  assert.equal(await statusOf(), 'done')
  assert.equal((await bob.request('POST', path, { body: 'Again', reopen: true })).status, 403)
  assert.equal((await request('GET', path)).body.length, 1)
  await make('POST', path, { body: 'Again', reopen: true })
  assert.equal(await statusOf(), 'todo')
})
