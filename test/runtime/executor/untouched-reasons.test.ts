import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LOCAL_BOARD } from '../../../src/access/caller/caller.ts'
import { requestWake } from '../../../src/organization/agent/request-wake.ts'
import type { WakeReason } from '../../../src/organization/wake/wake.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { NO_FACTS } from '../../../src/runtime/executor/facts.ts'
import { finishRun } from '../../../src/runtime/executor/finish.ts'
import { readWakeContext } from '../../../src/runtime/executor/wake-context.ts'
import { forgetWakes, insertAgentRow, insertCompany, insertIssue, insertRun, wakeReasons } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

const EXITED = { reason: 'exited', exitCode: 0, signal: null, error: null, at: null } as const

/** An agent with three issues in `todo`, and the reasons of one wake for all of them. */
async function arrange(t: TestContext) {
  const app = createTestApp(t)
  const { ctx } = app
  const company_id = insertCompany(ctx)
  const agent = insertAgentRow(ctx, { company_id })
  const assign = (title: string) => insertIssue(ctx, { company_id, title, assignee_agent_id: agent.id })
  const [first, second, third] = [assign('One'), assign('Two'), assign('Three')]
  for (const { id: issueId } of [first, second, third]) {
    await ctx.write(() => requestWake(ctx, LOCAL_BOARD, { agentId: agent.id, source: 'issue_assigned', issueId }))
  }
  const reasons = wakeReasons(ctx, agent)
  forgetWakes(ctx)
  /** Inserts the live run of a wake with some reasons, whose issue is that of the first one. */
  const begin = (some: readonly WakeReason[]) =>
    insertRun(app, agent, { reasons: JSON.stringify(some), issue_id: some[0]!.issueId, depth: 3 })
  const finish = (runId: string, ending: Parameters<typeof finishRun>[2] = EXITED) =>
    ctx.write(() => finishRun(ctx, runId, ending, NO_FACTS))
  const waiting = () => wakeReasons(ctx, agent).map((reason) => reason.issueId)
  return { ...app, company_id, agent, reasons, first, second, third, begin, finish, waiting }
}

test('a run of a merged wake is followed by runs for the issues that the agent did not touch', async (t) => {
  const { ctx, agent, reasons, first, second, third, begin, finish, waiting } = await arrange(t)
  const run = await begin(reasons)
  assert.equal((await run.request('POST', `/api/issues/${first.id}/comments`, { body: 'Done.' })).status, 201)
  await finish(run.id)
  assert.deepEqual(waiting(), [second.id, third.id])
  assert.deepEqual(wakeReasons(ctx, agent), reasons.slice(1), 'the reasons do not change')
  const wake = ctx.db.first(sql.selectFrom('wake').select('depth').where('status', '=', 'waiting'))
  assert.equal(wake?.depth, 3, 'the causal depth does not grow')

  forgetWakes(ctx)
  const next = await begin(reasons.slice(1))
  await next.request('POST', `/api/issues/${second.id}/comments`, { body: 'Done.' })
  await next.request('POST', `/api/issues/${third.id}/comments`, { body: 'Done too.' })
  await finish(next.id)
  assert.deepEqual(waiting(), [], 'the agent did something on both issues')
})

test('an issue that the agent cannot work on any more gets no further run', async (t) => {
  const { request, reasons, first, second, third, begin, finish, waiting } = await arrange(t)
  const run = await begin(reasons)
  await run.request('POST', `/api/issues/${first.id}/comments`, { body: 'Done.' })
  assert.equal((await request('PATCH', `/api/issues/${second.id}`, { blockedByIssueIds: [first.id] })).status, 200)
  assert.equal((await request('POST', `/api/issues/${third.id}/close`, {})).status, 200)
  await finish(run.id)
  assert.deepEqual(waiting(), [])
})

test('a mention on an issue of another agent gets a run of its own', async (t) => {
  const { ctx, company_id, agent, reasons, first, begin, finish, waiting } = await arrange(t)
  const other = insertIssue(ctx, { company_id })
  const mention: WakeReason = { ...reasons[0]!, source: 'mention', issueId: other.id }
  const run = await begin([reasons[0]!, mention])
  await run.request('POST', `/api/issues/${first.id}/comments`, { body: 'Done.' })
  await finish(run.id)
  assert.deepEqual(waiting(), [other.id])
  assert.equal(wakeReasons(ctx, agent)[0]!.source, 'mention')
})

test('a run that changed nothing, or was stopped, is followed by no run for other issues', async (t) => {
  const { ctx, reasons, first, begin, finish, waiting } = await arrange(t)
  const idle = await begin(reasons)
  await finish(idle.id)
  assert.deepEqual(waiting(), [])
  const paused = await begin(reasons)
  await paused.request('POST', `/api/issues/${first.id}/comments`, { body: 'Done.' })
  ctx.db.run(sql.updateTable('run').set({ stop_reason: 'paused' }).where('id', '=', paused.id))
  await finish(paused.id, { ...EXITED, reason: 'stopped' })
  assert.deepEqual(waiting(), [])
})

test('a run receives the comment on its own issue, and lists its other causes', async (t) => {
  const { ctx, company_id, request, reasons, first, second } = await arrange(t)
  const comment = async (issueId: string, body: string) =>
    (await request('POST', `/api/issues/${issueId}/comments`, { body })).body.id as string
  const [onFirst, onSecond] = [await comment(first.id, 'First?'), await comment(second.id, 'Second?')]
  const commented = (issueId: string, commentId: string): WakeReason => ({
    ...reasons[0]!,
    source: 'issue_commented',
    issueId,
    commentId,
  })
  const context = readWakeContext(ctx.db, {
    company_id,
    issue_id: first.id,
    reasons: JSON.stringify([commented(first.id, onFirst), commented(second.id, onSecond)]),
  })
  assert.equal(context.wake.commentId, onFirst)
  assert.equal(context.comment?.body, 'First?')
  assert.deepEqual(
    context.others.map(({ source, issue, commentId }) => [source, issue?.title, commentId]),
    [['issue_commented', 'Two', onSecond]],
  )
  assert.deepEqual(
    context.wake.causes.map(({ commentId }) => commentId),
    [onFirst, onSecond],
  )
})
