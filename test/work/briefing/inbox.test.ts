import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertRun } from '../../arrange.ts'
import { setUp } from '../issue/set-up.ts'

test('an inbox lists the next actions in order, and blocked issues last', async (t) => {
  const app = await setUp(t)
  const { create, ada, bob } = app
  const mine = { assigneeAgentId: ada.id }
  const open = await create({ title: 'open blocker' })
  const done = await create({ status: 'done' })
  await create({ ...mine, title: 'resolved', status: 'blocked', blockedByIssueIds: [done.id], priority: 'critical' })
  await create({ ...mine, title: 'blocked', status: 'blocked', blockedByIssueIds: [done.id, open.id] })
  await create({ ...mine, title: 'blocked by what nobody named', status: 'blocked' })
  await create({ ...mine, title: 'review', status: 'in_review' })
  await create({ ...mine, title: 'todo, older' })
  await create({ ...mine, title: 'todo, newer' })
  await create({ ...mine, title: 'todo, urgent', priority: 'critical' })
  await create({ ...mine, title: 'todo that waits', blockedByIssueIds: [open.id] })
  const begun = await create({ ...mine, title: 'begun', status: 'in_progress', priority: 'low' })
  await create({ ...mine, title: 'backlog', status: 'backlog' })
  await create({ ...mine, title: 'done', status: 'done' })
  await create({ title: 'of Bob', assigneeAgentId: bob.id })
  const run = await insertRun(app, ada, { issue_id: begun.id })

  const { status, body } = await run.request('GET', '/api/agents/me/inbox')
  assert.equal(status, 200)
  assert.deepEqual(
    body.map((item: { title: string }) => item.title),
    ['begun', 'todo, urgent', 'todo, newer', 'todo, older', 'review', 'resolved', 'todo that waits', 'blocked'],
  )
  assert.deepEqual(body[0].waitingFor, [])
  assert.deepEqual(
    body[6].waitingFor.map((blocker: { id: string }) => blocker.id),
    [open.id],
  )
  assert.deepEqual(body[0].activeRun, { id: run.id, agentId: ada.id })
  assert.equal(body[1].activeRun, null)
  assert.deepEqual((await ada.request('GET', '/api/agents/me/inbox-lite')).body, body)
  assert.equal((await ada.request('GET', '/api/agents/me/inbox?limit=2')).body.length, 2)
})

test('the board has no agent inbox', async (t) => {
  const { request } = await setUp(t)
  assert.equal((await request('GET', '/api/agents/me/inbox')).status, 403)
})
