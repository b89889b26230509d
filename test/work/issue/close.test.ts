import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ISSUE_STATUSES, isTerminal } from '../../../src/work/issue/lifecycle.ts'
import { forgetWakes, insertRun, wakeReasons } from '../../arrange.ts'
import { setUp } from './set-up.ts'

const close = (issue: { id: string }) => `/api/issues/${issue.id}/close`

for (const status of ISSUE_STATUSES.filter((one) => !isTerminal(one))) {
  test(`the board closes an issue that is ${status}; the assignee stays, and the activity records each step`, async (t) => {
    const { create, make, ada, request } = await setUp(t)
    const issue = await create({ status, assigneeAgentId: ada.id })
    const closed = await make('POST', close(issue))
    assert.deepEqual([closed.status, closed.assigneeAgentId, closed.assigneeUserId], ['done', ada.id, null])
    assert.notEqual(closed.completed_at, null)
    const steps = (await request('GET', `/api/issues/${issue.id}/activity`)).body
      .filter((entry: { action: string }) => entry.action === 'issue.updated')
      .map((entry: { details: { changes: { status: { from: string; to: string } } } }) => entry.details.changes.status)
      .reverse()
    assert.equal(steps[0].from, status)
    assert.equal(steps.at(-1).to, 'done')
    for (const [n, step] of steps.slice(1).entries()) assert.equal(step.from, steps[n].to)
    assert.deepEqual(await make('POST', close(issue)), closed)
  })
}

test('a person who closes an issue without an assignee becomes its assignee', async (t) => {
  const { create, make } = await setUp(t)
  const closed = await make('POST', close(await create()), { comment: 'Not needed any more.' })
  assert.deepEqual([closed.status, closed.assigneeUserId], ['done', 'local-board'])
})

test('closing an issue stops its live run and wakes only the assignees of issues that it blocked', async (t) => {
  const app = await setUp(t)
  const { ctx, create, make, ada, bob, mia } = app
  const parent = await create({ assigneeAgentId: mia.id })
  const issue = await create({ assigneeAgentId: ada.id, parentId: parent.id })
  const waiting = await create({ assigneeAgentId: bob.id, blockedByIssueIds: [issue.id] })
  const run = await insertRun(app, ada, { issue_id: issue.id })
  forgetWakes(ctx)
  await make('POST', close(issue), { comment: 'I did it myself.' })
  assert.deepEqual(wakeReasons(ctx, ada), [])
  assert.deepEqual(
    wakeReasons(ctx, bob).map((reason) => [reason.source, reason.issueId]),
    [['blockers_resolved', waiting.id]],
  )
  assert.deepEqual(
    wakeReasons(ctx, mia).map((reason) => reason.source),
    ['children_done'],
  )
  assert.equal((await make('GET', `/api/runs/${run.id}`)).stopReason, 'closed')
})

test('a cancelled issue cannot be closed before it is reopened', async (t) => {
  const { create, request } = await setUp(t)
  const { status, body } = await request('POST', close(await create({ status: 'cancelled' })))
  assert.deepEqual([status, body.code], [422, 'invalid_transition'])
  assert.match(body.error, /reopen/)
})
