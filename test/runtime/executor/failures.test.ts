import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOCAL_BOARD, SYSTEM } from '../../../src/access/caller/caller.ts'
import { requestWake } from '../../../src/organization/agent/request-wake.ts'
import { findRun } from '../../../src/organization/run/queries.ts'
import { findWaitingWake } from '../../../src/organization/wake/queries.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { backoff } from '../../../src/runtime/executor/backoff.ts'
import { NO_FACTS } from '../../../src/runtime/executor/facts.ts'
import { finishRun } from '../../../src/runtime/executor/finish.ts'
import type { Ending } from '../../../src/runtime/process/ending.ts'
import { claimRuns } from '../../../src/runtime/scheduler/claim.ts'
import { insertRun } from '../../arrange.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

const invoke = ({ make }: TestRuns, agent: string) => make('POST', `/api/agents/${agent}/heartbeat/invoke`)

const mention = ({ ctx }: TestRuns, agentId: string) =>
  ctx.write(() => requestWake(ctx, LOCAL_BOARD, { agentId, source: 'mention' }))

const IN_AN_HOUR = Date.parse('2026-11-21T10:00:00.000Z') / 1_000

test('a rate-limited agent runs at the reset time of the provider, and mentions do not start it earlier', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('refused.js', { speaks: 'runtimeA_local', args: [String(IN_AN_HOUR)] })
  await invoke(runs, agent)
  await runs.runUntilIdle()
  const held = (await runs.request('GET', `/api/agents/${agent}`)).body
  assert.deepEqual([held.status, held.heldUntil], ['idle', '2026-11-21T10:00:00.000Z'])
  assert.match(held.heldBecause, /refuses requests until 2026-11-21T10:00/)
  await mention(runs, agent)
  runs.clock.move(3_599_000)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 1)
  runs.clock.move(1_000)
  await runs.runUntilIdle()
  const [first, second] = await runs.runs()
  assert.equal(second.retryOfRunId, first.id)
  assert.ok(second.reasons.some((reason: { source: string }) => reason.source === 'mention'))
  assert.equal(first.errorCode, 'rate_limited')
})

test('a provider that repeatedly reports a reset time in the past is retried with growing delays', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('refused.js', { speaks: 'runtimeA_local', args: ['1760000000'] })
  await invoke(runs, agent)
  const waits: number[] = []
  for (let i = 0; i < 3; i++) {
    await runs.runUntilIdle()
    const { heldUntil } = (await runs.request('GET', `/api/agents/${agent}`)).body
    waits.push(Date.parse(heldUntil) - Date.parse(runs.ctx.now))
    runs.clock.set(heldUntil)
  }
  assert.deepEqual(waits, [10_000, 20_000, 40_000])
  assert.equal((await runs.request('GET', `/api/agents/${agent}`)).body.pauseReason, null)
})

test('without a reset time a provider is retried after 1, 2 and 4 minutes', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('refused.js', { speaks: 'runtimeA_local' })
  await invoke(runs, agent)
  const waits: number[] = []
  for (let i = 0; i < 3; i++) {
    await runs.runUntilIdle()
    const { heldUntil } = (await runs.request('GET', `/api/agents/${agent}`)).body
    waits.push(Date.parse(heldUntil) - Date.parse(runs.ctx.now))
    runs.clock.set(heldUntil)
  }
  assert.deepEqual(waits, [60_000, 120_000, 240_000])
  const { status, pauseReason } = (await runs.request('GET', `/api/agents/${agent}`)).body
  assert.deepEqual([status, pauseReason], ['idle', null], 'a refusal is not a failure')
})

test('the board can resume a held agent immediately', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('refused.js', { speaks: 'runtimeA_local' })
  await invoke(runs, agent)
  await runs.runUntilIdle()
  assert.match((await runs.request('GET', `/api/agents/${agent}`)).body.heldBecause, /names no end/)
  assert.equal((await runs.make('POST', `/api/agents/${agent}/resume`)).heldUntil, null)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 2)
})

test('the retry delay doubles with each retry of one root cause, up to ten minutes', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 60].map(backoff),
    [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000, 600_000],
  )
})

test('a failure with another cause starts with the first retry delay', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('fail.js')
  const waits: (number | null)[] = []
  await invoke(runs, agent)
  await runs.runUntilIdle()
  waits.push(notBeforeMs(runs))
  await runs.ctx.write(() => runs.ctx.db.run(sql.deleteFrom('wake').where('status', '=', 'waiting')))
  await mention(runs, agent)
  await runs.runUntilIdle()
  waits.push(notBeforeMs(runs))
  assert.deepEqual(waits, [10_000, 10_000])
})

const notBeforeMs = ({ ctx }: TestRuns) => {
  const wake = ctx.db.first(sql.selectFrom('wake').select('not_before').where('status', '=', 'waiting'))
  return wake?.not_before ? Date.parse(wake.not_before) - Date.parse(ctx.now) : null
}

/** Ends the live run of an agent as a restarted server does. */
async function end(runs: TestRuns, agentId: string, reason: Ending['reason']) {
  await runs.ctx.write(() => requestWake(runs.ctx, SYSTEM, { agentId, source: 'timer' }))
  const [run] = await runs.ctx.write(() => claimRuns(runs.ctx))
  assert.ok(run)
  return runs.ctx.write(() =>
    finishRun(runs.ctx, run.id, { reason, exitCode: null, signal: null, error: null, at: null }, NO_FACTS),
  )
}

test('a lost run is retried once, and then counts as a failure', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await runs.agentThat('succeed.js')
  const first = await end(runs, agentId, 'lost')
  const second = await end(runs, agentId, 'lost')
  assert.equal(second?.retry_of_run_id, first?.id)
  assert.equal(findWaitingWake(runs.ctx.db, { agentId }), undefined)
  const displayed = (await runs.request('GET', `/api/agents/${agentId}`)).body
  assert.deepEqual([displayed.status, displayed.errorReason], ['error', second?.error])
})

test('a run that did not start is retried without limit and does not count as a failure', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await runs.agentThat('succeed.js')
  for (let i = 0; i < 5; i++) assert.equal((await end(runs, agentId, 'never_started'))?.error_code, 'never_started')
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).at(-1).status, 'succeeded')
  assert.equal((await runs.runs()).length, 6)
})

test('a lost retry of a failed run is retried', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await runs.agentThat('succeed.js')
  await end(runs, agentId, 'exited')
  await end(runs, agentId, 'lost')
  assert.ok(findWaitingWake(runs.ctx.db, { agentId }))
})

/** Runs an agent for an issue the given number of times. */
async function runFor(runs: TestRuns, agentId: string, issueId: string, times: number) {
  for (let i = 0; i < times; i++) {
    await runs.ctx.write(() => requestWake(runs.ctx, SYSTEM, { agentId, source: 'issue_commented', issueId }))
    await runs.runUntilIdle()
  }
}

test('an agent is paused as a loop after five consecutive wakes for one issue without a change', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  const issue = await runs.make('POST', `/api/companies/${runs.companyId}/issues`, { title: 'Look again' })
  await runFor(runs, agent, issue.id, 4)
  assert.equal((await runs.request('GET', `/api/agents/${agent}`)).body.status, 'idle')
  await runFor(runs, agent, issue.id, 1)
  const paused = (await runs.request('GET', `/api/agents/${agent}`)).body
  assert.deepEqual([paused.status, paused.pauseReason], ['paused', 'loop'])
  assert.match(paused.pauseMessage, new RegExp(`5 runs in a row on ${issue.identifier} changed nothing`))

  await runs.make('POST', `/api/agents/${agent}/resume`)
  runs.clock.move(1)
  await runFor(runs, agent, issue.id, 4)
  assert.equal((await runs.request('GET', `/api/agents/${agent}`)).body.status, 'idle', 'it counts from the resume on')
})

test('a change by the agent, with its run token or its key, resets the loop counter', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  const { token } = await runs.make('POST', `/api/agents/${agent}/keys`)
  const issue = await runs.make('POST', `/api/companies/${runs.companyId}/issues`, { title: 'Look again' })
  for (let i = 0; i < 3; i++) {
    await runFor(runs, agent, issue.id, 4)
    assert.equal((await runs.as(token)('POST', `/api/issues/${issue.id}/comments`, { body: 'Seen.' })).status, 201)
  }
  assert.equal((await runs.request('GET', `/api/agents/${agent}`)).body.status, 'idle')
  const run = await insertRun(runs, { id: agent }, { issue_id: issue.id })
  await run.request('POST', `/api/issues/${issue.id}/comments`, { body: 'Done.' })
  await runs.ctx.write(() =>
    finishRun(runs.ctx, run.id, { reason: 'exited', exitCode: 0, signal: null, error: null, at: null }, NO_FACTS),
  )
  assert.equal(findRun(runs.ctx.db, { id: run.id })?.idle, 0)
})
