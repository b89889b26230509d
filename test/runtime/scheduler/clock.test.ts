import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { createScheduler } from '../../../src/runtime/scheduler/scheduler.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

const HOUR = 3_600_000
const timer = { enabled: true, intervalSec: 3_600 }

const dueAt = async ({ request }: TestRuns, agent: string): Promise<string> =>
  (await request('GET', `/api/agents/${agent}/runtime-state`)).body.timerDueAt

const notBefore = ({ ctx }: TestRuns) =>
  ctx.db.first(sql.selectFrom('wake').select('not_before').where('status', '=', 'waiting'))?.not_before

test('a timer that is due in half an hour is still due in half an hour after the clock is set back one hour', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js', { heartbeat: timer })
  runs.clock.move(HOUR / 2)
  await runs.runUntilIdle()
  runs.clock.move(-HOUR)
  await runs.runUntilIdle()
  assert.equal(Date.parse(await dueAt(runs, agent)) - Date.parse(runs.ctx.now), HOUR / 2)
  runs.clock.move(HOUR / 2)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 1)
})

test('a retry with a delay of ten seconds still waits ten seconds after the clock is set back one hour', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('fail.js')
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  runs.clock.move(-HOUR)
  await runs.tick()
  runs.clock.move(10_000)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 2)
})

test('a clock that jumps eight hours ahead causes one run for all missed ticks', async (t) => {
  const runs = await createTestRuns(t)
  await runs.agentThat('succeed.js', { heartbeat: timer })
  await runs.runUntilIdle()
  runs.clock.move(8 * HOUR)
  await runs.runUntilIdle()
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 1)
  runs.clock.move(-8 * HOUR)
  await runs.runUntilIdle()
  runs.clock.move(HOUR)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 2)
})

test('clock corrections of a few milliseconds shift no timer', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js', { heartbeat: timer })
  await runs.runUntilIdle()
  const before = await dueAt(runs, agent)
  runs.clock.move(-40)
  await runs.runUntilIdle()
  assert.equal(await dueAt(runs, agent), before)
})

test('after a start with the clock set back, no wait exceeds an interval or the longest backoff', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js', { heartbeat: timer })
  const failing = await runs.agentThat('fail.js')
  await runs.make('POST', `/api/agents/${failing}/heartbeat/invoke`)
  await runs.runUntilIdle()
  runs.clock.move(-5 * HOUR)
  const next = createScheduler(runs.ctx, { execute: () => {}, reconcile: () => {} })
  await next.tick()
  next.close()
  const now = Date.parse(runs.ctx.now)
  assert.equal(Date.parse(await dueAt(runs, agent)), now + HOUR)
  assert.equal(Date.parse(notBefore(runs)!), now + 600_000)
})

test('agents that missed ticks during sleep start one after another, not all at once', async (t) => {
  const runs = await createTestRuns(t, { maxRuns: 50 })
  for (let i = 0; i < 10; i++) await runs.agentThat('succeed.js', { heartbeat: timer })
  await runs.runUntilIdle()
  runs.clock.move(8 * HOUR)
  await runs.tick()
  assert.equal((await runs.runs()).length, 1)
  runs.clock.move(4_000)
  await runs.tick()
  assert.equal((await runs.runs()).length, 3)
  runs.clock.move(60_000)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 10)
})

test('agents that are due on time start together, up to the concurrency limit', async (t) => {
  const runs = await createTestRuns(t, { maxRuns: 3 })
  for (let i = 0; i < 4; i++) await runs.agentThat('succeed.js', { heartbeat: timer })
  await runs.runUntilIdle()
  runs.clock.move(HOUR)
  await runs.tick()
  assert.equal((await runs.runs()).length, 3)
})
