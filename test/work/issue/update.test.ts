import assert from 'node:assert/strict'
import { test } from 'node:test'
import { v7 as uuid } from 'uuid'
import { sql } from '../../../src/platform/database/sql.ts'
import { forgetWakes, insertAgent, insertGoal, insertProject, wakeReasons } from '../../arrange.ts'
import { setUp } from './set-up.ts'

test('fields change, and one row of activity says from what to what', async (t) => {
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

test('a change to what already is changes nothing and leaves no trace', async (t) => {
  const { create, patch, activity, clock, ada, bob } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, priority: 'high' })
  const before = await activity()
  clock.move(1_000)
  const same = { status: 'todo', priority: 'high', assigneeAgentId: ada.id, labelIds: [], blockedByIssueIds: [] }
  assert.deepEqual(await patch(issue, same), issue)
  assert.equal((await bob.ask('PATCH', `/api/issues/${issue.id}`, same)).status, 200)
  assert.deepEqual(await activity(), before)
})

test('an unknown field is 400 and named', async (t) => {
  const { create, ask } = await setUp(t)
  const issue = await create()
  const { status, body } = await ask('PATCH', `/api/issues/${issue.id}`, { asignee: 'Ada' })
  assert.equal(status, 400)
  assert.equal(body.details.fields[0].path, 'asignee')
})

test('work in progress keeps an owner, which may change', async (t) => {
  const { create, patch, ask, ada, bob } = await setUp(t)
  const issue = await create()
  const path = `/api/issues/${issue.id}`
  const refused = await ask('PATCH', path, { status: 'in_progress' })
  assert.equal(refused.status, 422)
  assert.match(refused.body.error, /Check it out/)
  await patch(issue, { status: 'in_progress', assigneeAgentId: ada.id })
  assert.equal((await ask('PATCH', path, { assigneeAgentId: null })).status, 422)
  assert.equal((await patch(issue, { assigneeAgentId: bob.id })).assigneeAgentId, bob.id)
})

test('an issue has one assignee: a person takes an agent off it, and an agent a person', async (t) => {
  const { create, patch, ask, ada } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id })
  const personal = await patch(issue, { assigneeUserId: 'local-board' })
  assert.deepEqual([personal.assigneeAgentId, personal.assigneeUserId], [null, 'local-board'])
  const back = await patch(issue, { assigneeAgentId: ada.id })
  assert.deepEqual([back.assigneeAgentId, back.assigneeUserId], [ada.id, null])
  const both = { assigneeAgentId: ada.id, assigneeUserId: 'local-board' }
  assert.equal((await ask('PATCH', `/api/issues/${issue.id}`, both)).status, 422)
})

const mayDirect: [string, 'cleo' | 'mia' | 'ada' | 'bob', boolean][] = [
  ['the assignee', 'ada', true],
  ['the manager of the assignee', 'mia', true],
  ['the manager of that manager', 'cleo', true],
  ['an agent that has nothing to do with it', 'bob', false],
]
for (const [who, name, may] of mayDirect) {
  test(`${who} ${may ? 'changes' : 'does not change'} an issue's status and assignee`, async (t) => {
    const app = await setUp(t)
    const { create, ada, mia } = app
    for (const change of [{ status: 'todo' }, { assigneeAgentId: mia.id }]) {
      const issue = await create({ assigneeAgentId: ada.id, status: 'blocked' })
      const { status, body } = await app[name].ask('PATCH', `/api/issues/${issue.id}`, change)
      assert.equal(status, may ? 200 : 403)
      if (!may) assert.match(body.error, /assigned to Ada/)
    }
  })
}

test('the creator directs what it created, and anybody what is nobody’s', async (t) => {
  const { create, ada, bob, issues } = await setUp(t)
  const made = (await bob.ask('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  assert.equal((await bob.ask('PATCH', `/api/issues/${made.id}`, { status: 'cancelled' })).status, 200)
  const free = await create()
  assert.equal((await bob.ask('PATCH', `/api/issues/${free.id}`, { assigneeAgentId: bob.id })).status, 200)
})

test('any agent changes the rest of an issue', async (t) => {
  const { create, ada, bob } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id })
  assert.equal((await bob.ask('PATCH', `/api/issues/${issue.id}`, { description: 'See also WAL-7' })).status, 200)
})

test('a CEO sets nothing in progress before its first approved strategy', async (t) => {
  const { create, cleo, ada, ctx, company } = await setUp(t)
  const own = await create({ assigneeAgentId: cleo.id })
  const others = await create({ assigneeAgentId: ada.id })
  const attempts = [
    () => cleo.ask('PATCH', `/api/issues/${own.id}`, { status: 'in_progress' }),
    () => cleo.ask('PATCH', `/api/issues/${others.id}`, { status: 'in_progress' }),
    () => cleo.ask('POST', `/api/issues/${own.id}/checkout`),
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
  assert.equal((await cleo.ask('PATCH', `/api/issues/${others.id}`, { status: 'in_progress' })).status, 200)
  assert.equal((await cleo.ask('POST', `/api/issues/${own.id}/checkout`)).status, 200)
})

test('an agent cancels what its line assigned to it, and passes on to its manager what others did', async (t) => {
  const { create, patch, ada, mia, bob, issues } = await setUp(t)
  const byBoard = await create({ assigneeAgentId: ada.id })
  const byManager = (await mia.ask('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  const byItself = (await ada.ask('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  for (const issue of [byBoard, byManager, byItself]) {
    assert.equal((await ada.ask('PATCH', `/api/issues/${issue.id}`, { status: 'cancelled' })).status, 200)
  }
  const byPeer = (await bob.ask('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).body
  const path = `/api/issues/${byPeer.id}`
  const refused = await ada.ask('PATCH', path, { status: 'cancelled' })
  assert.equal(refused.status, 403)
  assert.match(refused.body.error, /manager Mia/)
  assert.equal(refused.body.details.managerAgentId, mia.id)
  const passedOn = await ada.ask('PATCH', path, { assigneeAgentId: mia.id, comment: 'Not ours' })
  assert.equal(passedOn.body.assigneeAgentId, mia.id)
  // Whoever assigns last counts: the board's word is in everybody's line.
  await patch(byPeer, { assigneeAgentId: bob.id })
  assert.equal((await bob.ask('PATCH', path, { status: 'cancelled' })).status, 200)
})

test('a new assignee is woken, and the one who has an issue that leaves the backlog', async (t) => {
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

test('without canAssignTasks an agent takes issues and hands them upwards, and gives them to nobody else', async (t) => {
  const { create, make, issues, mia, ada, bob, cleo } = await setUp(t)
  await make('PATCH', `/api/agents/${ada.id}/permissions`, { canAssignTasks: false })
  const issue = await create({ assigneeAgentId: ada.id })
  const path = `/api/issues/${issue.id}`
  const refused = await ada.ask('PATCH', path, { assigneeAgentId: bob.id })
  assert.equal(refused.status, 403)
  assert.match(refused.body.error, /revoked your permission to assign/)
  assert.equal((await ada.ask('POST', issues, { title: 'Do', assigneeAgentId: bob.id })).status, 403)
  assert.equal((await ada.ask('POST', issues, { title: 'Do', assigneeAgentId: ada.id })).status, 201)
  for (const above of [mia, cleo]) {
    assert.equal((await ada.ask('POST', issues, { title: 'Do', assigneeAgentId: above.id })).status, 201)
  }
  assert.equal((await ada.ask('PATCH', path, { assigneeAgentId: mia.id })).status, 200)
  assert.equal((await mia.ask('PATCH', path, { assigneeAgentId: bob.id })).status, 200)
})

test('an issue is not below itself', async (t) => {
  const { create, ask, patch } = await setUp(t)
  const top = await create()
  const middle = await create({ parentId: top.id })
  const leaf = await create({ parentId: middle.id })
  for (const parent of [top, middle, leaf]) {
    const { status, body } = await ask('PATCH', `/api/issues/${top.id}`, { parentId: parent.id })
    assert.equal(status, 422)
    assert.equal(body.details.fields[0].path, 'parentId')
  }
  await patch(leaf, { parentId: top.id })
})

test('what moves to another parent takes its children along, and their depths', async (t) => {
  const { create, patch, ask } = await setUp(t)
  const top = await create()
  const issue = await create()
  const child = await create({ parentId: issue.id })
  assert.equal((await patch(issue, { parentId: top.id })).requestDepth, 1)
  assert.equal((await ask('GET', `/api/issues/${child.id}`)).body.requestDepth, 2)
  assert.equal((await patch(issue, { parentId: null })).requestDepth, 0)
  assert.equal((await ask('GET', `/api/issues/${child.id}`)).body.requestDepth, 1)
})

test('blockers are shown from both sides, and never wait for each other', async (t) => {
  const { create, patch, ask } = await setUp(t)
  const [a, b, c] = [await create(), await create(), await create()]
  await patch(b, { blockedByIssueIds: [a.identifier, a.id] })
  const waiting = await patch(c, { blockedByIssueIds: [b.id] })
  assert.deepEqual(
    waiting.blockedBy.map((blocker: { identifier: string }) => blocker.identifier),
    [b.identifier],
  )
  assert.deepEqual(
    (await ask('GET', `/api/issues/${a.id}`)).body.blocks.map((blocked: { id: string }) => blocked.id),
    [b.id],
  )
  for (const blocker of [a, b, c]) {
    const { status, body } = await ask('PATCH', `/api/issues/${a.id}`, { blockedByIssueIds: [blocker.id] })
    assert.equal(status, 422)
    assert.equal(body.details.fields[0].path, 'blockedByIssueIds.0')
  }
  assert.deepEqual((await patch(c, { blockedByIssueIds: [] })).blockedBy, [])
})

test('when the last blocker is done or cancelled the assignee of what it blocked is woken, once', async (t) => {
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

test('when the last child is done or cancelled the assignee of the parent is woken', async (t) => {
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

test('labels are set as a whole', async (t) => {
  const { create, patch, make, company } = await setUp(t)
  const label = (name: string) => make('POST', `/api/companies/${company.id}/labels`, { name })
  const [bug, urgent] = [await label('bug'), await label('urgent')]
  const issue = await create({ labelIds: [urgent.id, bug.id, bug.id] })
  assert.deepEqual(issue.labels, [bug, urgent])
  assert.deepEqual((await patch(issue, { labelIds: [urgent.id] })).labelIds, [urgent.id])
  assert.deepEqual((await patch(issue, { labelIds: [] })).labels, [])
})

test('a comment in the same go is answered with the issue', async (t) => {
  const { create, patch, ask, ada } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, status: 'in_progress' })
  const { comment } = await patch(issue, { status: 'blocked', comment: 'No access yet' })
  assert.equal(comment.body, 'No access yet')
  assert.deepEqual((await ask('GET', `/api/issues/${issue.id}/comments`)).body, [comment])
})

test('a comment that goes with a refused change is not made', async (t) => {
  const { create, ask, issues } = await setUp(t)
  const issue = await create({ status: 'backlog' })
  const refused = await ask('PATCH', `/api/issues/${issue.id}`, { status: 'done', title: 'Done', comment: 'Done' })
  assert.equal(refused.status, 422)
  assert.deepEqual((await ask('GET', `/api/issues/${issue.id}/comments`)).body, [])
  assert.equal((await ask('GET', issues)).body[0].title, 'Do')
})

for (const status of ['done', 'cancelled']) {
  test(`an issue that is ${status} is reopened to todo, and the activity keeps when it ended`, async (t) => {
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

test('only the assignee, its managers and the board reopen', async (t) => {
  const { create, patch, ada, mia, bob } = await setUp(t)
  const issue = await create({ status: 'done', assigneeAgentId: ada.id })
  const path = `/api/issues/${issue.id}`
  assert.equal((await bob.ask('PATCH', path, { reopen: true })).status, 403)
  for (const one of [ada, mia]) {
    assert.equal((await one.ask('PATCH', path, { reopen: true })).body.status, 'todo')
    await patch(issue, { status: 'in_progress' })
    await patch(issue, { status: 'done' })
  }
})

test('reopening and giving to another in one go wakes the other only', async (t) => {
  const { create, patch, ctx, ada, bob } = await setUp(t)
  const issue = await create({ status: 'done', assigneeAgentId: ada.id })
  await patch(issue, { reopen: true, assigneeAgentId: bob.id })
  assert.deepEqual(wakeReasons(ctx, ada), [])
  assert.equal(wakeReasons(ctx, bob).length, 1)
})

test('nothing in an archived company changes', async (t) => {
  const { create, ask, ctx, company } = await setUp(t)
  const issue = await create()
  ctx.db.run(sql.updateTable('company').set({ status: 'archived' }).where('id', '=', company.id))
  assert.equal((await ask('PATCH', `/api/issues/${issue.id}`, { title: 'New' })).status, 422)
  assert.equal((await ask('GET', `/api/issues/${issue.id}`)).body.title, 'Do')
})

test('an agent is named by its url key where its id goes', async (t) => {
  const app = await setUp(t)
  const dora = insertAgent(app, { company_id: app.company.id, name: 'Dora', url_key: 'dora' })
  assert.equal((await app.create({ assigneeAgentId: 'dora' })).assigneeAgentId, dora.id)
})

test('an issue whose last open blocker is taken from it wakes its assignee', async (t) => {
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
