import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createTestRuns } from '../../runs.ts'

test('an agent that is invoked runs, succeeds and is idle again', async (t) => {
  const { agentThat, ask, settle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js')
  const invoked = await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  assert.equal(invoked.status, 202)
  await settle()
  const [run] = await runs()
  assert.equal(run.status, 'succeeded')
  assert.equal(run.exitCode, 0)
  assert.equal(run.invocationSource, 'on_demand')
  assert.equal((await ask('GET', `/api/agents/${agent}`)).body.status, 'idle')
})

test('an agent whose run is live is shown as running', async (t) => {
  const { agentThat, ask, tick, runs, next } = await createTestRuns(t)
  const agent = await agentThat('hang.js')
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  assert.equal((await ask('GET', `/api/agents/${agent}`)).body.status, 'running')
  assert.equal((await runs())[0].status, 'running')
})

test('an agent that exits 1 fails its run, is in error, and is tried again after a wait', async (t) => {
  const { agentThat, ask, settle, runs, clock } = await createTestRuns(t)
  const agent = await agentThat('fail.js')
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await settle()
  assert.deepEqual(
    (await runs()).map((run) => run.status),
    ['failed'],
  )
  const shown = (await ask('GET', `/api/agents/${agent}`)).body
  assert.equal(shown.status, 'error')
  assert.match(shown.errorReason, /exited with code/)
  clock.move(10_000)
  await settle()
  const [first, second] = await runs()
  assert.equal(second.retryOfRunId, first.id)
})

test('three failures in a row pause the agent with the reason', async (t) => {
  const { agentThat, ask, settle, runs, clock } = await createTestRuns(t)
  const agent = await agentThat('fail.js')
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  for (let i = 0; i < 4; i++) {
    await settle()
    clock.move(11 * 60_000)
  }
  assert.equal((await runs()).length, 3)
  const shown = (await ask('GET', `/api/agents/${agent}`)).body
  assert.equal(shown.status, 'paused')
  assert.equal(shown.pauseReason, 'failures')
  assert.match(shown.pauseMessage, /3 runs in a row failed/)
})

test('a command that is not there fails the run at once and says so', async (t) => {
  const { agentThat, ask, settle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js', { config: { command: 'no-such-program' } })
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await settle()
  const [run] = await runs()
  assert.equal(run.status, 'failed')
  assert.equal(run.errorCode, 'command_missing')
  assert.match(run.error, /no-such-program/)
})

test('an agent whose program is missing stays idle, says so, and goes on when the program is there', async (t) => {
  const { agentThat, ask, settle, runs, clock, config } = await createTestRuns(t)
  const command = path.join(config.dataDir, 'late-program')
  const agent = await agentThat('succeed.js', { config: { command, args: [] } })
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await settle()
  const held = (await ask('GET', `/api/agents/${agent}`)).body
  assert.deepEqual([held.status, held.heldBecause], ['idle', `program not found: ${command}`])
  writeFileSync(command, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  clock.set(held.heldUntil)
  await settle()
  assert.deepEqual(
    (await runs()).map((run) => run.status),
    ['failed', 'succeeded'],
  )
  assert.equal((await ask('GET', `/api/agents/${agent}`)).body.heldBecause, null)
})

test('a cwd that does not exist fails the run and names it', async (t) => {
  const { agentThat, ask, settle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js', { config: { cwd: '/no/such/folder' } })
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await settle()
  const [run] = await runs()
  assert.equal(run.errorCode, 'cwd_missing')
  assert.match(run.error, /\/no\/such\/folder/)
})

test('a run that lasts longer than its limit times out', async (t) => {
  const { agentThat, ask, settle, runs } = await createTestRuns(t)
  const agent = await agentThat('hang.js', { config: { timeoutSec: 1 } })
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await settle()
  assert.equal((await runs())[0].status, 'timed_out')
})

test('a cancelled run that ignores SIGTERM is gone, and stays cancelled', async (t) => {
  const { agentThat, ask, tick, settle, runs, next } = await createTestRuns(t)
  const agent = await agentThat('ignore-sigterm.js')
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  const [live] = await runs()
  const cancelled = await ask('POST', `/api/runs/${live.id}/cancel`)
  assert.equal(cancelled.body.stopReason, 'cancelled')
  await settle()
  const [run] = await runs()
  assert.equal(run.status, 'cancelled')
  assert.equal((await ask('GET', `/api/agents/${agent}`)).body.status, 'idle')
})

test('pausing an agent stops its live run', async (t) => {
  const { agentThat, ask, tick, settle, runs, next } = await createTestRuns(t)
  const agent = await agentThat('hang.js')
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  assert.equal((await ask('POST', `/api/agents/${agent}/pause`)).status, 200)
  await settle()
  assert.equal((await runs())[0].stopReason, 'paused')
  assert.equal((await ask('GET', `/api/agents/${agent}`)).body.status, 'paused')
})

test('what a run wrote can be read, and its token is not in it', async (t) => {
  const { agentThat, ask, settle, runs } = await createTestRuns(t)
  const agent = await agentThat('echo-env.js')
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await settle()
  const [run] = await runs()
  const log = (await ask('GET', `/api/runs/${run.id}/log`)).body
  assert.match(log.text, new RegExp(`SERVICE_RUN_ID.*${run.id}`))
  assert.match(log.text, /SERVICE_API_KEY.*\[redacted\]/)
  assert.equal((await ask('GET', `/api/runs/${run.id}/log?offset=${log.nextOffset}`)).body.isComplete, true)
})

test('a token works while its run runs, and not on the first request after', async (t) => {
  const { agentThat, ask, as, tick, settle, runs, next, ctx } = await createTestRuns(t)
  const agent = await agentThat('hang.js')
  await ask('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  const [run] = await runs()
  const token = await ctx.tokens.sign({ id: run.id, agentId: agent, companyId: run.companyId })
  assert.equal((await as(token)('GET', '/api/agents/me')).body.id, agent)
  await ask('POST', `/api/runs/${run.id}/cancel`)
  await settle()
  const refused = await as(token)('GET', '/api/agents/me')
  assert.equal(refused.status, 401)
  assert.equal(refused.body.code, 'run_ended')
})
