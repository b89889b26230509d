import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createTestRuns } from '../../runs.ts'

test('an invoked agent runs, succeeds and becomes idle', async (t) => {
  const { agentThat, request, runUntilIdle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js')
  const invoked = await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  assert.equal(invoked.status, 202)
  await runUntilIdle()
  const [run] = await runs()
  assert.equal(run.status, 'succeeded')
  assert.equal(run.exitCode, 0)
  assert.equal(run.invocationSource, 'on_demand')
  assert.equal((await request('GET', `/api/agents/${agent}`)).body.status, 'idle')
})

test('an agent with a live run has the status running', async (t) => {
  const { agentThat, request, tick, runs, next } = await createTestRuns(t)
  const agent = await agentThat('hang.js')
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  assert.equal((await request('GET', `/api/agents/${agent}`)).body.status, 'running')
  assert.equal((await runs())[0].status, 'running')
})

test('an agent that exits with 1 fails its run, has the status error, and is retried after a delay', async (t) => {
  const { agentThat, request, runUntilIdle, runs, clock } = await createTestRuns(t)
  const agent = await agentThat('fail.js')
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  assert.deepEqual(
    (await runs()).map((run) => run.status),
    ['failed'],
  )
  const displayed = (await request('GET', `/api/agents/${agent}`)).body
  assert.equal(displayed.status, 'error')
  assert.match(displayed.errorReason, /exited with code/)
  clock.move(10_000)
  await runUntilIdle()
  const [first, second] = await runs()
  assert.equal(second.retryOfRunId, first.id)
})

test('three consecutive failures pause the agent with the reason', async (t) => {
  const { agentThat, request, runUntilIdle, runs, clock } = await createTestRuns(t)
  const agent = await agentThat('fail.js')
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  for (let i = 0; i < 4; i++) {
    await runUntilIdle()
    clock.move(11 * 60_000)
  }
  assert.equal((await runs()).length, 3)
  const displayed = (await request('GET', `/api/agents/${agent}`)).body
  assert.equal(displayed.status, 'paused')
  assert.equal(displayed.pauseReason, 'failures')
  assert.match(displayed.pauseMessage, /3 runs in a row failed/)
})

test('a wake of an agent with a missing command returns this immediately and starts no run', async (t) => {
  const { agentThat, request, runUntilIdle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js', { config: { command: 'no-such-program' } })
  const { heldBy } = (await request('POST', `/api/agents/${agent}/heartbeat/invoke`)).body
  assert.equal(heldBy[0].code, 'held')
  assert.match(heldBy[0].message, /program not found: no-such-program/)
  await runUntilIdle()
  assert.deepEqual(await runs(), [])
})

test('without a PATH a system command can run', async (t) => {
  const { agentThat, request, runUntilIdle, runs } = await createTestRuns(t, { environment: {} })
  const agent = await agentThat('succeed.js', { config: { command: 'true' } })
  const { heldBy } = (await request('POST', `/api/agents/${agent}/heartbeat/invoke`)).body
  assert.deepEqual(heldBy, [])
  await runUntilIdle()
  assert.deepEqual(
    (await runs()).map((run) => run.status),
    ['succeeded'],
  )
})

for (const adapterType of ['process', 'runtimeA_local'] as const) {
  test(`a ${adapterType} agent runs a program that is only on its own PATH`, async (t) => {
    const { companyId, make, request, runUntilIdle, runs, config } = await createTestRuns(t, {
      environment: { PATH: '/nowhere' },
    })
    writeFileSync(path.join(config.dataDir, 'own-program'), '#!/bin/sh\necho --version\n', { mode: 0o755 })
    const adapterConfig = { command: 'own-program', env: { PATH: `${config.dataDir}:/usr/bin:/bin` } }
    const agent = await make('POST', `/api/companies/${companyId}/agents`, { name: 'Ada', adapterType, adapterConfig })
    await request('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
    await runUntilIdle()
    const [run] = await runs()
    // It prints no result record of an agent program.
    assert.equal(run.errorCode, adapterType === 'process' ? null : 'no_result')
    assert.doesNotMatch((await request('GET', `/api/agents/${agent.id}`)).body.heldBecause ?? '', /not found/)
  })
}

test('a command that is not on the PATH of the agent fails the run with a clear error', async (t) => {
  const { agentThat, request, runUntilIdle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js', { config: { command: 'no-such-program', env: { PATH: '/nowhere' } } })
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  const [run] = await runs()
  assert.equal(run.status, 'failed')
  assert.equal(run.errorCode, 'command_missing')
  assert.match(run.error, /no-such-program/)
  assert.match((await request('GET', `/api/agents/${agent}`)).body.heldBecause, /program not found: no-such-program/)
})

test('the error for a missing default program contains installation instructions and names the demo agent', async (t) => {
  const { companyId, make, request, tick } = await createTestRuns(t, { environment: { PATH: '/nowhere' } })
  const agent = await make('POST', `/api/companies/${companyId}/agents`, { name: 'Ada' })
  await request('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
  await tick()
  const { status, heldBecause } = (await request('GET', `/api/agents/${agent.id}`)).body
  assert.equal(status, 'idle')
  assert.match(heldBecause, /^program not found: claude\. Install it with: npm .* demo agent/)
})

test('an agent with a missing program runs as soon as its configuration names one that exists', async (t) => {
  const { agentThat, make, runUntilIdle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js', { config: { command: 'no-such-program' } })
  await make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  assert.equal((await runs()).length, 0)
  await make('PATCH', `/api/agents/${agent}`, { adapterConfig: { command: '/bin/echo' } })
  await runUntilIdle()
  assert.deepEqual(
    (await runs()).map(({ status }) => status),
    ['succeeded'],
  )
})

test('an agent with a missing program stays idle, reports this, and continues after the installation', async (t) => {
  const { agentThat, request, runUntilIdle, runs, clock, config } = await createTestRuns(t)
  const command = path.join(config.dataDir, 'late-program')
  const agent = await agentThat('succeed.js', { config: { command, args: [] } })
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  const held = (await request('GET', `/api/agents/${agent}`)).body
  assert.deepEqual([held.status, held.heldBecause], ['idle', `program not found: ${command}`])
  clock.set(held.heldUntil)
  await runUntilIdle()
  const longer = (await request('GET', `/api/agents/${agent}`)).body
  assert.ok(longer.heldUntil > held.heldUntil)
  const activity = (await request('GET', `/api/companies/${held.companyId}/activity?action=agent.held`)).body
  assert.equal(activity.length, 1, 'one activity for one reason')
  writeFileSync(command, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  clock.set(longer.heldUntil)
  await runUntilIdle()
  assert.deepEqual(
    (await runs()).map((run) => run.status),
    ['succeeded'],
  )
  assert.equal((await request('GET', `/api/agents/${agent}`)).body.heldBecause, null)
})

test('an invocation after the installation of the missing program ends the hold', async (t) => {
  const { agentThat, request, runUntilIdle, runs, config } = await createTestRuns(t)
  const command = path.join(config.dataDir, 'late-program')
  const agent = await agentThat('succeed.js', { config: { command, args: [] } })
  const first = await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  assert.equal(first.body.heldBy[0].code, 'held')
  writeFileSync(command, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  const second = await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  assert.deepEqual(second.body.heldBy, [])
  await runUntilIdle()
  assert.equal((await runs())[0].status, 'succeeded')
})

test('a missing cwd fails the run, and the error names it', async (t) => {
  const { agentThat, request, runUntilIdle, runs } = await createTestRuns(t)
  const agent = await agentThat('succeed.js', { config: { cwd: '/no/such/folder' } })
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  const [run] = await runs()
  assert.equal(run.errorCode, 'cwd_missing')
  assert.match(run.error, /\/no\/such\/folder/)
})

test('a run that exceeds its time limit times out', async (t) => {
  const { agentThat, request, runUntilIdle, runs } = await createTestRuns(t)
  const agent = await agentThat('hang.js', { config: { timeoutSec: 1 } })
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  assert.equal((await runs())[0].status, 'timed_out')
})

test('a cancelled run that ignores SIGTERM is killed and stays cancelled', async (t) => {
  const { agentThat, request, tick, runUntilIdle, runs, next } = await createTestRuns(t)
  const agent = await agentThat('ignore-sigterm.js')
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  const [live] = await runs()
  const cancelled = await request('POST', `/api/runs/${live.id}/cancel`)
  assert.equal(cancelled.body.stopReason, 'cancelled')
  await runUntilIdle()
  const [run] = await runs()
  assert.equal(run.status, 'cancelled')
  assert.equal((await request('GET', `/api/agents/${agent}`)).body.status, 'idle')
})

test('pausing an agent stops its live run', async (t) => {
  const { agentThat, request, tick, runUntilIdle, runs, next } = await createTestRuns(t)
  const agent = await agentThat('hang.js')
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  assert.equal((await request('POST', `/api/agents/${agent}/pause`)).status, 200)
  await runUntilIdle()
  assert.equal((await runs())[0].stopReason, 'paused')
  assert.equal((await request('GET', `/api/agents/${agent}`)).body.status, 'paused')
})

test('the log of a run is readable and does not contain its token', async (t) => {
  const { agentThat, request, runUntilIdle, runs } = await createTestRuns(t)
  const agent = await agentThat('echo-env.js')
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  const [run] = await runs()
  const log = (await request('GET', `/api/runs/${run.id}/log`)).body
  assert.match(log.text, new RegExp(`SERVICE_RUN_ID.*${run.id}`))
  assert.match(log.text, /SERVICE_API_KEY.*\[redacted\]/)
  assert.equal((await request('GET', `/api/runs/${run.id}/log?offset=${log.nextOffset}`)).body.isComplete, true)
})

test('a run token is valid while the run is live, and invalid immediately afterwards', async (t) => {
  const { agentThat, request, as, tick, runUntilIdle, runs, next, ctx } = await createTestRuns(t)
  const agent = await agentThat('hang.js')
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const isRunning = next('run.running')
  await tick()
  await isRunning
  const [run] = await runs()
  const token = await ctx.tokens.sign({ id: run.id, agentId: agent, companyId: run.companyId })
  assert.equal((await as(token)('GET', '/api/agents/me')).body.id, agent)
  await request('POST', `/api/runs/${run.id}/cancel`)
  await runUntilIdle()
  const refused = await as(token)('GET', '/api/agents/me')
  assert.equal(refused.status, 401)
  assert.equal(refused.body.code, 'run_ended')
})

test('a new session that overflows the context is a failure, and the next run does not resume it', async (t) => {
  const { agentThat, request, runUntilIdle, runs, clock } = await createTestRuns(t)
  const stream = path.join(import.meta.dirname, '../../agents/streams/codex-overflow.jsonl')
  const agent = await agentThat('replay.mjs', { speaks: 'runtimeB_local', args: [stream] })
  await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runUntilIdle()
  clock.move(10_000)
  await runUntilIdle()
  const [first, second] = await runs()
  assert.deepEqual([first.status, first.errorCode], ['failed', 'context_overflow'])
  assert.deepEqual([second.retryOfRunId, second.sessionIdBefore], [first.id, null])
})
