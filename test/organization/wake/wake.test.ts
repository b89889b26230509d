import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOCAL_BOARD, SYSTEM } from '../../../src/access/caller/caller.ts'
import { requestWake } from '../../../src/organization/agent/request-wake.ts'
import type { WakeRequest } from '../../../src/organization/wake/merge.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { forgetWakes, insertAgentRow, insertCompany, insertIssue, insertRunRow, wakeReasons } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { createTestRuns } from '../../runs.ts'

test('new causes merge into a waiting wake, and the run has all of them', async (t) => {
  const { agentThat, ctx, runUntilIdle, runs } = await createTestRuns(t)
  const agentId = await agentThat('succeed.js')
  await ctx.write(() => requestWake(ctx, LOCAL_BOARD, { agentId, source: 'mention' }))
  await ctx.write(() => requestWake(ctx, SYSTEM, { agentId, source: 'timer' }))
  await runUntilIdle()
  const all = await runs()
  assert.equal(all.length, 1)
  assert.deepEqual(
    all[0].reasons.map((reason: { source: string }) => reason.source),
    ['mention', 'timer'],
  )
})

test('a wake with many causes keeps the first cause, the latest of each issue, and each approval', async (t) => {
  const { ctx } = createTestApp(t)
  const company_id = insertCompany(ctx)
  const agent = insertAgentRow(ctx, { company_id })
  const [busy, quiet] = [insertIssue(ctx, { company_id }), insertIssue(ctx, { company_id })]
  const wake = (request: Partial<WakeRequest>) =>
    ctx.write(() => requestWake(ctx, LOCAL_BOARD, { agentId: agent.id, source: 'issue_commented', ...request }))
  for (let n = 0; n < 40; n++) await wake({ issueId: busy.id, commentId: `early ${n}` })
  await wake({ source: 'approval_resolved', approvalId: 'an approval' })
  for (let n = 0; n < 40; n++) await wake({ issueId: busy.id, commentId: `late ${n}` })
  await wake({ source: 'mention', issueId: quiet.id, commentId: 'mentioned at the end' })
  const reasons = wakeReasons(ctx, agent)
  assert.equal(reasons.length, 50)
  assert.equal(reasons[0]!.commentId, 'early 0')
  assert.deepEqual(
    reasons.slice(-2).map(({ commentId }) => commentId),
    ['late 39', 'mentioned at the end'],
  )
  assert.equal(reasons.filter(({ approvalId }) => approvalId === 'an approval').length, 1)
})

test('a retry does not replace the latest reasons of the waiting wake', async (t) => {
  const { ctx, clock } = createTestApp(t)
  const company_id = insertCompany(ctx)
  const agent = insertAgentRow(ctx, { company_id })
  const { id: issueId } = insertIssue(ctx, { company_id })
  const request = { agentId: agent.id, source: 'issue_commented', issueId } as const
  for (let n = 0; n < 30; n++)
    await ctx.write(() => requestWake(ctx, LOCAL_BOARD, { ...request, commentId: `run ${n}` }))
  const id = insertRunRow(ctx, agent, { reasons: JSON.stringify(wakeReasons(ctx, agent)) })
  const { reasons } = ctx.db.first(sql.selectFrom('run').select('reasons').where('id', '=', id))!
  forgetWakes(ctx)
  clock.move(1)
  for (let n = 0; n < 30; n++)
    await ctx.write(() => requestWake(ctx, LOCAL_BOARD, { ...request, commentId: `wake ${n}` }))
  clock.move(1)
  await ctx.write(() =>
    requestWake(ctx, SYSTEM, { agentId: agent.id, source: 'retry', issueId, retryOf: { id, reasons } }),
  )
  const merged = wakeReasons(ctx, agent)
  assert.deepEqual(
    [merged[0], merged[1], ...merged.slice(-2)].map((reason) => reason!.commentId ?? reason!.source),
    ['run 0', 'run 12', 'wake 29', 'retry'],
  )
})

test('a wake keeps one cause per issue or approval, up to 500', async (t) => {
  const { ctx } = createTestApp(t)
  const company_id = insertCompany(ctx)
  const agent = insertAgentRow(ctx, { company_id })
  await ctx.write(() => {
    for (let n = 0; n < 60; n++) {
      requestWake(ctx, LOCAL_BOARD, { agentId: agent.id, source: 'approval_resolved', approvalId: `${n}` })
    }
  })
  assert.equal(wakeReasons(ctx, agent).length, 60)
  await ctx.write(() => {
    for (let n = 60; n < 550; n++) {
      requestWake(ctx, LOCAL_BOARD, { agentId: agent.id, source: 'approval_resolved', approvalId: `${n}` })
    }
  })
  const approvals = wakeReasons(ctx, agent).map(({ approvalId }) => approvalId)
  assert.deepEqual([approvals.length, approvals[0], approvals.at(-1)], [500, '0', '549'])
})

test('an agent never wakes itself', async (t) => {
  const { agentThat, companyId, ctx, runUntilIdle, runs } = await createTestRuns(t)
  const agentId = await agentThat('succeed.js')
  const itself = {
    type: 'agent' as const,
    agentId,
    companyId,
    role: 'engineer',
    runId: null,
    keyExpiresAt: null,
    isWrite: true,
  }
  await ctx.write(() => assert.equal(requestWake(ctx, itself, { agentId, source: 'mention' }), undefined))
  await runUntilIdle()
  assert.deepEqual(await runs(), [])
})

test('only the timer and the board wake an agent with wakeOnDemand off', async (t) => {
  const { agentThat, request: send, ctx, runUntilIdle, runs } = await createTestRuns(t)
  const agentId = await agentThat('succeed.js', { heartbeat: { wakeOnDemand: false } })
  await ctx.write(() => assert.equal(requestWake(ctx, LOCAL_BOARD, { agentId, source: 'mention' }), undefined))
  await send('POST', `/api/agents/${agentId}/heartbeat/invoke`)
  await runUntilIdle()
  assert.equal((await runs()).length, 1)
})

test('a due timer wakes its agent once, however many intervals were missed', async (t) => {
  const { agentThat, clock, runUntilIdle, runs } = await createTestRuns(t)
  await agentThat('succeed.js', { heartbeat: { enabled: true, intervalSec: 60 } })
  await runUntilIdle()
  assert.equal((await runs()).length, 0)
  clock.move(60_000)
  await runUntilIdle()
  assert.deepEqual(
    (await runs()).map((run) => run.invocationSource),
    ['timer'],
  )
  clock.move(8 * 60 * 60_000)
  await runUntilIdle()
  assert.equal((await runs()).length, 2)
  clock.move(59_000)
  await runUntilIdle()
  assert.equal((await runs()).length, 2)
  clock.move(1_000)
  await runUntilIdle()
  assert.equal((await runs()).length, 3)
})

test('with skipIfIdle a timer starts no run for an idle agent, and records it', async (t) => {
  const { agentThat, request: send, companyId, clock, runUntilIdle, runs } = await createTestRuns(t)
  await agentThat('succeed.js', { heartbeat: { enabled: true, intervalSec: 60, skipIfIdle: true } })
  clock.move(60_000)
  await runUntilIdle()
  assert.deepEqual(await runs(), [])
  const skipped = await send('GET', `/api/companies/${companyId}/activity?action=agent.heartbeat_skipped`)
  assert.equal(skipped.body.length, 1)
})

test('at most maxRuns runs are live, and the most urgent wakes start first', async (t) => {
  const { agentThat, ctx, tick, runUntilIdle, runs } = await createTestRuns(t, { maxRuns: 2 })
  const agents = []
  for (const priority of [3, 2, 1, 0]) {
    const agentId = await agentThat('succeed.js')
    agents.push(agentId)
    await ctx.write(() => requestWake(ctx, SYSTEM, { agentId, source: 'mention', priority }))
  }
  await tick()
  assert.deepEqual(
    (await runs()).map((run) => run.agentId),
    [agents[3], agents[2]],
  )
  await runUntilIdle()
  await runUntilIdle()
  assert.equal((await runs()).length, 4)
})

test('an agent has one run at a time unless maxConcurrentRuns is higher', async (t) => {
  const { agentThat, request: send, tick, runs } = await createTestRuns(t)
  const one = await agentThat('hang.js')
  const two = await agentThat('hang.js', { heartbeat: { maxConcurrentRuns: 2 } })
  for (let i = 0; i < 3; i++) {
    await send('POST', `/api/agents/${one}/heartbeat/invoke`)
    await send('POST', `/api/agents/${two}/heartbeat/invoke`)
    await tick()
  }
  const live = await runs()
  assert.equal(live.filter((run) => run.agentId === one).length, 1)
  assert.equal(live.filter((run) => run.agentId === two).length, 2)
})

test('a pause deletes the waiting wake, and later wakes wait until the agent is resumed', async (t) => {
  const { agentThat, request: send, ctx, runUntilIdle, runs } = await createTestRuns(t)
  const agentId = await agentThat('succeed.js')
  await ctx.write(() => requestWake(ctx, LOCAL_BOARD, { agentId, source: 'mention' }))
  await send('POST', `/api/agents/${agentId}/pause`)
  await runUntilIdle()
  await ctx.write(() => requestWake(ctx, LOCAL_BOARD, { agentId, source: 'issue_commented' }))
  await runUntilIdle()
  assert.deepEqual(await runs(), [])
  await send('POST', `/api/agents/${agentId}/resume`)
  await runUntilIdle()
  assert.deepEqual(
    (await runs()).map((run) => run.invocationSource),
    ['issue_commented'],
  )
})
