import assert from 'node:assert/strict'
import { test } from 'node:test'
import { v7 as uuid } from 'uuid'
import { sql } from '../../../src/platform/database/sql.ts'
import { forgetWakes, insertAgent, insertGoal, insertProject, wakeReasons } from '../../arrange.ts'
import { setUp } from './set-up.ts'

test('an update changes fields and adds one activity entry with the old and new values', async (t) => {
  const { create, patch, activity, ctx, company, clock, ada } = await setUp(t)
  const goalId = insertGoal(ctx, { company_id: company.id })
  const projectId = insertProject(ctx, { company_id: company.id })
  const issue = await create()
  clock.move(1_000)
  const fields = { title: 'Did', description: 'More', priority: 'critical', projectId, goalId, billingCode: 'X-1' }
  const after = await patch(issue, { ...fields, status: 'in_progress', assigneeAgentId: ada.id })
  assert.deepEqual({ ...after, ...fields }, after)
  assert.equal(after.updatedAt, '2026-11-21T09:00:01.000Z')
  const [entry, creation] = await activity()
  assert.equal(creation.action, 'issue.created')
  assert.equal(entry.action, 'issue.updated')
  assert.deepEqual(entry.details.changes.title, { from: 'Do', to: 'Did' })
  assert.deepEqual(entry.details.changes.status, { from: 'todo', to: 'in_progress' })
  assert.deepEqual(entry.details.changes.assigneeAgentId, { from: null, to: ada.id })
  assert.equal(Object.keys(entry.details.changes).length, 8)
})

test('setting a field to its current value is a no-op and is not recorded', async (t) => {
  const { create, patch, activity, clock, ada, bob } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, priority: 'high' })
  const before = await activity()
  clock.move(1_000)
  const same = { status: 'todo', priority: 'high', assigneeAgentId: ada.id, labelIds: [], blockedByIssueIds: [] }
  assert.deepEqual(await patch(issue, same), issue)
  assert.equal((await bob.request('PATCH', `/api/issues/${issue.id}`, same)).status, 200)
  assert.deepEqual(await activity(), before)
})

test('an unknown field returns 400 and is named', async (t) => {
  const { create, request } = await setUp(t)
  const issue = await create()
  const { status, body } = await request('PATCH', `/api/issues/${issue.id}`, { asignee: 'Ada' })
  assert.equal(status, 400)
  assert.equal(body.details.fields[0].path, 'asignee')
})

test('an issue in progress requires an assignee, which can change', async (t) => {
  const { create, patch, request, ada, bob } = await setUp(t)
  const issue = await create()
  const path = `/api/issues/${issue.id}`
  const refused = await request('PATCH', path, { status: 'in_progress' })
  assert.equal(refused.status, 422)
  assert.match(refused.body.error, /Check it out/)
  await patch(issue, { status: 'in_progress', assigneeAgentId: ada.id })
  assert.equal((await request('PATCH', path, { assigneeAgentId: null })).status, 422)
  assert.equal((await patch(issue, { assigneeAgentId: bob.id })).assigneeAgentId, bob.id)
})

test('an issue has one assignee: a person replaces an agent, and an agent replaces a person', async (t) => {
  const { create, patch, request, ada } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id })
  const personal = await patch(issue, { assigneeUserId: 'local-board' })
  assert.deepEqual([personal.assigneeAgentId, personal.assigneeUserId], [null, 'local-board'])
  const back = await patch(issue, { assigneeAgentId: ada.id })
  assert.deepEqual([back.assigneeAgentId, back.assigneeUserId], [ada.id, null])
  const both = { assigneeAgentId: ada.id, assigneeUserId: 'local-board' }
  assert.equal((await request('PATCH', `/api/issues/${issue.id}`, both)).status, 422)
})

const mayDirect: [string, 'cleo' | 'mia' | 'ada' | 'bob', boolean][] = [
  ['the assignee', 'ada', true],
  ['the manager of the assignee', 'mia', true],
  ['the manager of that manager', 'cleo', true],
  ['an unrelated agent', 'bob', false],
]
for (const [who, name, may] of mayDirect) {
  test(`${who} ${may ? 'changes' : 'does not change'} the status and assignee of an issue`, async (t) => {
    const app = await setUp(t)
    const { create, ada, mia } = app
    for (const change of [{ status: 'todo' }, { assigneeAgentId: mia.id }]) {
      const issue = await create({ assigneeAgentId: ada.id, status: 'blocked' })
      const { status, body } = await app[name].request('PATCH', `/api/issues/${issue.id}`, change)
      assert.equal(status, may ? 200 : 403)
      if (!may) assert.match(body.error, /assigned to Ada/)
    }
  })
}

test('the creator of an issue can change its status, and any agent can assign an unassigned issue', async (t) => {
  const { create, ada, bob, issues } = await setUp(t)
  const made = (await bob.request('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  assert.equal((await bob.request('PATCH', `/api/issues/${made.id}`, { status: 'cancelled' })).status, 200)
  const free = await create()
  assert.equal((await bob.request('PATCH', `/api/issues/${free.id}`, { assigneeAgentId: bob.id })).status, 200)
})

test('any agent can update the other fields of an issue', async (t) => {
  const { create, ada, bob } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id })
  assert.equal((await bob.request('PATCH', `/api/issues/${issue.id}`, { description: 'See also WAL-7' })).status, 200)
})

test('a CEO cannot start issues before its first strategy is approved', async (t) => {
  const { create, cleo, ada, ctx, company } = await setUp(t)
  const own = await create({ assigneeAgentId: cleo.id })
  const others = await create({ assigneeAgentId: ada.id })
  const attempts = [
    () => cleo.request('PATCH', `/api/issues/${own.id}`, { status: 'in_progress' }),
    () => cleo.request('PATCH', `/api/issues/${others.id}`, { status: 'in_progress' }),
    () => cleo.request('POST', `/api/issues/${own.id}/checkout`),
  ]
  for (const attempt of attempts) {
    const { status, body } = await attempt()
    assert.equal(status, 422)
    assert.equal(body.code, 'strategy_not_approved')
  }
  const at = { created_at: ctx.now, updated_at: ctx.now, decided_at: ctx.now }
  ctx.db.run(
    sql.insertInto('approval').values({
      ...at,
      id: uuid(),
      company_id: company.id,
      type: 'approve_ceo_strategy',
      status: 'approved',
      requested_by_agent_id: cleo.id,
    }),
  )
  assert.equal((await cleo.request('PATCH', `/api/issues/${others.id}`, { status: 'in_progress' })).status, 200)
  assert.equal((await cleo.request('POST', `/api/issues/${own.id}/checkout`)).status, 200)
})

test('an agent can cancel issues from its reporting line, and can reassign other issues only to its manager', async (t) => {
  const { create, patch, ada, mia, bob, issues } = await setUp(t)
  const byBoard = await create({ assigneeAgentId: ada.id })
  const byManager = (await mia.request('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  const byItself = (await ada.request('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  for (const issue of [byBoard, byManager, byItself]) {
    assert.equal((await ada.request('PATCH', `/api/issues/${issue.id}`, { status: 'cancelled' })).status, 200)
  }
  const byPeer = (await bob.request('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  const path = `/api/issues/${byPeer.id}`
  const refused = await ada.request('PATCH', path, { status: 'cancelled' })
  assert.equal(refused.status, 403)
  assert.match(refused.body.error, /manager Mia/)
  assert.equal(refused.body.details.managerAgentId, mia.id)
  const passedOn = await ada.request('PATCH', path, { assigneeAgentId: mia.id, comment: 'Not ours' })
  assert.equal(passedOn.body.assigneeAgentId, mia.id)
  // The last assigner decides. The board is in the reporting line of every agent.
  await patch(byPeer, { assigneeAgentId: bob.id })
  assert.equal((await bob.request('PATCH', path, { status: 'cancelled' })).status, 200)
})

test('assigning wakes the new assignee, and leaving the backlog wakes the assignee', async (t) => {
  const { create, patch, ctx, ada, bob } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, status: 'backlog' })
  await patch(issue, { title: 'Later' })
  assert.deepEqual(wakeReasons(ctx, ada), [])
  await patch(issue, { status: 'todo' })
  assert.deepEqual(
    wakeReasons(ctx, ada).map((reason) => reason.source),
    ['issue_assigned'],
  )
  await patch(issue, { assigneeAgentId: bob.id, priority: 'low' })
  assert.deepEqual(
    wakeReasons(ctx, bob).map((reason) => reason.source),
    ['issue_assigned'],
  )
})

test('without canAssignTasks an agent can check out issues and assign them to its managers only', async (t) => {
  const { create, make, issues, mia, ada, bob, cleo } = await setUp(t)
  await make('PATCH', `/api/agents/${ada.id}/permissions`, { canAssignTasks: false })
  const issue = await create({ assigneeAgentId: ada.id })
  const path = `/api/issues/${issue.id}`
  const refused = await ada.request('PATCH', path, { assigneeAgentId: bob.id })
  assert.equal(refused.status, 403)
  assert.match(refused.body.error, /revoked your permission to assign/)
  assert.equal((await ada.request('POST', issues, { title: 'Do', assigneeAgentId: bob.id })).status, 403)
  assert.equal((await ada.request('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).status, 201)
  for (const above of [mia, cleo]) {
    assert.equal((await ada.request('POST', issues, { title: 'Do', assigneeAgentId: above.id })).status, 201)
  }
  assert.equal((await ada.request('PATCH', path, { assigneeAgentId: mia.id })).status, 200)
  assert.equal((await mia.request('PATCH', path, { assigneeAgentId: bob.id })).status, 200)
})

test('an issue cannot be its own descendant', async (t) => {
  const { create, request, patch } = await setUp(t)
  const top = await create()
  const middle = await create({ parentId: top.id })
  const leaf = await create({ parentId: middle.id })
  for (const parent of [top, middle, leaf]) {
    const { status, body } = await request('PATCH', `/api/issues/${top.id}`, { parentId: parent.id })
    assert.equal(status, 422)
    assert.equal(body.details.fields[0].path, 'parentId')
  }
  await patch(leaf, { parentId: top.id })
})

test('moving an issue to another parent moves its children and updates their depths', async (t) => {
  const { create, patch, request } = await setUp(t)
  const top = await create()
  const issue = await create()
  const child = await create({ parentId: issue.id })
  assert.equal((await patch(issue, { parentId: top.id })).requestDepth, 1)
  assert.equal((await request('GET', `/api/issues/${child.id}`)).body.requestDepth, 2)
  assert.equal((await patch(issue, { parentId: null })).requestDepth, 0)
  assert.equal((await request('GET', `/api/issues/${child.id}`)).body.requestDepth, 1)
})

test('blockers are listed on both issues, and cycles are refused', async (t) => {
  const { create, patch, request } = await setUp(t)
  const [a, b, c] = [await create(), await create(), await create()]
  await patch(b, { blockedByIssueIds: [a.identifier, a.id] })
  const waiting = await patch(c, { blockedByIssueIds: [b.id] })
  assert.deepEqual(
    waiting.blockedBy.map((blocker: { identifier: string }) => blocker.identifier),
    [b.identifier],
  )
  assert.deepEqual(
    (await request('GET', `/api/issues/${a.id}`)).body.blocks.map((blocked: { id: string }) => blocked.id),
    [b.id],
  )
  for (const blocker of [a, b, c]) {
    const { status, body } = await request('PATCH', `/api/issues/${a.id}`, { blockedByIssueIds: [blocker.id] })
    assert.equal(status, 422)
    assert.equal(body.details.fields[0].path, 'blockedByIssueIds.0')
  }
  assert.deepEqual((await patch(c, { blockedByIssueIds: [] })).blockedBy, [])
})

test('closing the last blocker of an issue wakes its assignee once', async (t) => {
  const { create, patch, ctx, ada } = await setUp(t)
  const [a, b] = [await create({ status: 'in_review' }), await create()]
  const issue = await create({ assigneeAgentId: ada.id, status: 'blocked', blockedByIssueIds: [a.id, b.id] })
  forgetWakes(ctx)
  await patch(a, { status: 'done' })
  assert.deepEqual(wakeReasons(ctx, ada), [])
  await patch(b, { status: 'cancelled' })
  const reasons = wakeReasons(ctx, ada)
  assert.deepEqual(
    reasons.map((reason) => [reason.source, reason.issueId]),
    [['blockers_resolved', issue.id]],
  )
})

test('closing the last child of an issue wakes the assignee of the issue', async (t) => {
  const { create, patch, ctx, mia } = await setUp(t)
  const parent = await create({ assigneeAgentId: mia.id })
  const [a, b] = [await create({ parentId: parent.id, status: 'in_review' }), await create({ parentId: parent.id })]
  forgetWakes(ctx)
  await patch(b, { status: 'cancelled' })
  assert.deepEqual(wakeReasons(ctx, mia), [])
  await patch(a, { status: 'done' })
  assert.deepEqual(
    wakeReasons(ctx, mia).map((reason) => [reason.source, reason.issueId]),
    [['children_done', parent.id]],
  )
})

test('an update replaces all labels of an issue', async (t) => {
  const { create, patch, make, company } = await setUp(t)
  const label = (name: string) => make('POST', `/api/companies/${company.id}/labels`, { name })
  const [bug, urgent] = [await label('bug'), await label('urgent')]
  const issue = await create({ labelIds: [urgent.id, bug.id, bug.id] })
  assert.deepEqual(issue.labels, [bug, urgent])
  assert.deepEqual((await patch(issue, { labelIds: [urgent.id] })).labelIds, [urgent.id])
  assert.deepEqual((await patch(issue, { labelIds: [] })).labels, [])
})

test('an update with a comment returns the comment with the issue', async (t) => {
  const { create, patch, request, ada } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, status: 'in_progress' })
  const { comment } = await patch(issue, { status: 'blocked', comment: 'No access yet' })
  assert.equal(comment.body, 'No access yet')
  assert.deepEqual((await request('GET', `/api/issues/${issue.id}/comments`)).body, [comment])
})

test('a refused update does not create its comment', async (t) => {
  const { create, request, issues } = await setUp(t)
  const issue = await create({ status: 'backlog' })
  const refused = await request('PATCH', `/api/issues/${issue.id}`, { status: 'done', title: 'Done', comment: 'Done' })
  assert.equal(refused.status, 422)
  assert.deepEqual((await request('GET', `/api/issues/${issue.id}/comments`)).body, [])
  assert.equal((await request('GET', issues)).body[0].title, 'Do')
})

for (const status of ['done', 'cancelled']) {
  test(`an issue that is ${status} is reopened to todo, and the activity keeps its completion time`, async (t) => {
    const { create, patch, activity, ada, ctx } = await setUp(t)
    const issue = await create({ status, assigneeAgentId: ada.id })
    const after = await patch(issue, { reopen: true })
    assert.deepEqual([after.status, after.completedAt, after.cancelledAt], ['todo', null, null])
    const [entry] = await activity()
    assert.equal(entry.action, 'issue.reopened')
    assert.equal(entry.details.from, status)
    assert.equal(entry.details.completedAt, issue.completedAt)
    assert.deepEqual(
      wakeReasons(ctx, ada).map((reason) => reason.source),
      ['issue_assigned'],
    )
  })
}

test('only the assignee, its managers and the board can reopen an issue', async (t) => {
  const { create, patch, ada, mia, bob } = await setUp(t)
  const issue = await create({ status: 'done', assigneeAgentId: ada.id })
  const path = `/api/issues/${issue.id}`
  assert.equal((await bob.request('PATCH', path, { reopen: true })).status, 403)
  for (const one of [ada, mia]) {
    assert.equal((await one.request('PATCH', path, { reopen: true })).body.status, 'todo')
    await patch(issue, { status: 'in_progress' })
    await patch(issue, { status: 'done' })
  }
})

test('reopening and reassigning in one request wakes only the new assignee', async (t) => {
  const { create, patch, ctx, ada, bob } = await setUp(t)
  const issue = await create({ status: 'done', assigneeAgentId: ada.id })
  await patch(issue, { reopen: true, assigneeAgentId: bob.id })
  assert.deepEqual(wakeReasons(ctx, ada), [])
  assert.equal(wakeReasons(ctx, bob).length, 1)
})

test('objects of an archived company cannot be changed', async (t) => {
  const { create, request, ctx, company } = await setUp(t)
  const issue = await create()
  ctx.db.run(sql.updateTable('company').set({ status: 'archived' }).where('id', '=', company.id))
  assert.equal((await request('PATCH', `/api/issues/${issue.id}`, { title: 'New' })).status, 422)
  assert.equal((await request('GET', `/api/issues/${issue.id}`)).body.title, 'Do')
})

test('an agent can be named by its url key instead of its id', async (t) => {
  const app = await setUp(t)
  const dora = insertAgent(app, { company_id: app.company.id, name: 'Dora', url_key: 'dora' })
  assert.equal((await app.create({ assigneeAgentId: 'dora' })).assigneeAgentId, dora.id)
})

test('removing the last open blocker of an issue wakes its assignee', async (t) => {
  const { ctx, create, patch, ada } = await setUp(t)
  const [one, two] = [await create(), await create()]
  const issue = await create({ assigneeAgentId: ada.id, blockedByIssueIds: [one.id, two.id] })
  forgetWakes(ctx)
  await patch(issue, { blockedByIssueIds: [two.id] })
  assert.deepEqual(wakeReasons(ctx, ada), [])
  await patch(issue, { blockedByIssueIds: [] })
  assert.deepEqual(
    wakeReasons(ctx, ada).map((reason) => [reason.source, reason.issueId]),
    [['blockers_resolved', issue.id]],
  )
  forgetWakes(ctx)
  await patch(issue, { blockedByIssueIds: [] })
  assert.deepEqual(wakeReasons(ctx, ada), [])
})
