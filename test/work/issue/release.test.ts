import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setUp } from './set-up.ts'

test('a released issue becomes todo without an assignee', async (t) => {
  const { create, ada, activity } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, status: 'in_progress' })
  const { status, body } = await ada.request('POST', `/api/issues/${issue.id}/release`)
  assert.equal(status, 200)
  assert.deepEqual([body.status, body.assigneeAgentId], ['todo', null])
  const [entry] = await activity()
  assert.equal(entry.action, 'issue.released')
  assert.equal(entry.details.assigneeAgentId, ada.id)
})

for (const status of ['backlog', 'todo', 'in_review', 'blocked', 'done']) {
  test(`releasing an issue that is ${status} does not change its status`, async (t) => {
    const { create, request, ada } = await setUp(t)
    const issue = await create({ assigneeAgentId: ada.id, status })
    const { body } = await request('POST', `/api/issues/${issue.id}/release`, {})
    assert.deepEqual([body.status, body.assigneeAgentId], [status, null])
  })
}

test('releasing a free issue is a no-op', async (t) => {
  const { create, bob, activity } = await setUp(t)
  const issue = await create()
  const before = await activity()
  const { status, body } = await bob.request('POST', `/api/issues/${issue.id}/release`)
  assert.equal(status, 200)
  assert.deepEqual(body, issue)
  assert.deepEqual(await activity(), before)
})

test('only the assignee and the board can release an issue', async (t) => {
  const { create, request, ada, bob, mia } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, status: 'in_progress' })
  for (const one of [bob, mia]) {
    assert.equal((await one.request('POST', `/api/issues/${issue.id}/release`)).status, 403)
    assert.equal((await one.request('POST', `/api/issues/${issue.id}/admin/force-release`)).status, 403)
  }
  assert.equal((await request('GET', `/api/issues/${issue.id}`)).body.assigneeAgentId, ada.id)
})

test('the board can release an issue by force; the activity records it, and another agent can check it out', async (t) => {
  const { create, make, activity, ada, bob } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id, status: 'in_progress' })
  const response = await make('POST', `/api/issues/${issue.id}/admin/force-release`)
  assert.deepEqual([response.issue.status, response.issue.assigneeAgentId], ['todo', null])
  assert.deepEqual(response.previous, {
    status: 'in_progress',
    assigneeAgentId: ada.id,
    assigneeUserId: null,
    runId: null,
  })
  const [entry] = await activity()
  assert.equal(entry.details.forced, true)
  assert.equal((await bob.request('POST', `/api/issues/${issue.id}/checkout`)).status, 200)
})
