import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SYSTEM } from '../../../src/access/caller/caller.ts'
import { requestWake } from '../../../src/organization/agent/request-wake.ts'
import { markedProcesses } from '../../../src/runtime/process/process-table.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

/** Creates two agents with a live run each, the second ignoring SIGTERM, and one that waits for a slot. */
async function arrange(runs: TestRuns) {
  const live = [await runs.agentThat('hang.js'), await runs.agentThat('ignore-sigterm.js')]
  for (const id of live) await runs.make('POST', `/api/agents/${id}/heartbeat/invoke`)
  let running = 0
  const bothRun = new Promise<void>((resolve) => {
    runs.ctx.events.subscribe((event) => {
      if (event.type === 'run.running' && ++running === 2) resolve()
    })
  })
  await runs.tick()
  await bothRun
  const waiting = await runs.agentThat('succeed.js')
  await runs.ctx.write(() => requestWake(runs.ctx, SYSTEM, { agentId: waiting, source: 'mention' }))
  return { live, waiting }
}

const wakes = async ({ request }: TestRuns) => (await request('GET', '/api/instance')).body.waitingWakes

const stops: Record<string, { stop: (runs: TestRuns) => string; thaw: (runs: TestRuns) => string; isStopped: string }> =
  {
    'a company': {
      stop: ({ companyId }) => `/api/companies/${companyId}/stop`,
      thaw: ({ companyId }) => `/api/companies/${companyId}/thaw`,
      isStopped: 'stoppedAt',
    },
    everything: {
      stop: () => '/api/instance/freeze',
      thaw: () => '/api/instance/thaw',
      isStopped: 'frozenAt',
    },
  }

for (const [what, { stop, thaw, isStopped }] of Object.entries(stops)) {
  test(`stopping ${what} ends all processes and starts no run, and a thaw starts the waiting wakes`, async (t) => {
    const runs = await createTestRuns(t, { maxRuns: 2 })
    const { waiting } = await arrange(runs)
    const stopped = await runs.make('POST', stop(runs), { reason: 'Enough.' })
    assert.equal(stopped[isStopped], runs.ctx.now)
    await runs.runUntilIdle()
    const ids = (await runs.runs()).map((run) => run.id)
    assert.deepEqual(
      ids.filter((id) => markedProcesses().has(id)),
      [],
    )
    assert.deepEqual(
      (await runs.runs()).map((run) => [run.status, run.stopReason]),
      [
        ['cancelled', 'stopped'],
        ['cancelled', 'stopped'],
      ],
    )
    assert.equal(await wakes(runs), 1)
    runs.clock.move(60_000)
    await runs.runUntilIdle()
    assert.equal((await runs.runs()).length, 2, 'nothing starts meanwhile')

    await runs.make('POST', thaw(runs))
    await runs.runUntilIdle()
    const all = await runs.runs()
    assert.deepEqual(
      all.slice(2).map((run) => [run.agentId, run.status]),
      [[waiting, 'succeeded']],
    )
  })

  test(`a second stop or thaw of ${what} is a no-op`, async (t) => {
    const runs = await createTestRuns(t)
    const first = await runs.make('POST', stop(runs))
    runs.clock.move(1_000)
    assert.deepEqual(await runs.make('POST', stop(runs)), first)
    assert.equal((await runs.make('POST', thaw(runs)))[isStopped], null)
    assert.equal((await runs.make('POST', thaw(runs)))[isStopped], null)
    const actions = (await runs.request('GET', `/api/companies/${runs.companyId}/activity`)).body.map(
      (row: { action: string }) => row.action,
    )
    assert.equal(actions.filter((action: string) => /company\.(stopped|thawed|frozen|unfrozen)/.test(action)).length, 2)
  })

  test(`never spawns a run that was claimed before stopping ${what}`, async (t) => {
    const runs = await createTestRuns(t)
    const agent = await runs.agentThat('hang.js')
    await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
    const [stopped] = await Promise.all([runs.request('POST', stop(runs)), runs.tick()])
    assert.equal(stopped.status, 200)
    await runs.runUntilIdle()
    for (const run of await runs.runs()) assert.deepEqual([run.status, run.processPid], ['cancelled', null])
  })
}

test('a company paused for its budget stays paused after a stop and a thaw', async (t) => {
  const { make, companyId } = await createTestRuns(t)
  await make('PATCH', `/api/companies/${companyId}`, { budgetMonthlyCents: 10, spentMonthlyCents: 20 })
  await make('POST', `/api/companies/${companyId}/stop`)
  const thawed = await make('POST', `/api/companies/${companyId}/thaw`)
  assert.deepEqual([thawed.status, thawed.pauseReason, thawed.stoppedAt], ['paused', 'budget', null])
})

test('timers that are due during a freeze cause one wake after the thaw', async (t) => {
  const runs = await createTestRuns(t)
  await runs.agentThat('succeed.js', { heartbeat: { enabled: true, intervalSec: 60 } })
  await runs.make('POST', '/api/instance/freeze')
  for (let i = 0; i < 5; i++) {
    runs.clock.move(60_000)
    await runs.runUntilIdle()
  }
  assert.equal(await wakes(runs), 0)
  await runs.make('POST', '/api/instance/thaw')
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 1)
})

test('a freeze is stored with its reason and actor', async (t) => {
  const runs = await createTestRuns(t)
  await runs.make('POST', '/api/instance/freeze', { reason: 'The bill' })
  const displayed = (await runs.request('GET', '/api/instance')).body
  assert.deepEqual([displayed.isFrozen, displayed.frozenBecause, displayed.frozenBy], [true, 'The bill', 'local-board'])
})

test('an agent may not freeze or stop anything', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  const { token } = await runs.make('POST', `/api/agents/${agent}/keys`)
  for (const path of ['/api/instance/freeze', '/api/instance/thaw', `/api/companies/${runs.companyId}/stop`]) {
    assert.equal((await runs.as(token)('POST', path)).status, 403)
  }
})

test('archiving a company cancels and records its live run', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('hang.js')
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const running = runs.next('run.running')
  await runs.tick()
  await running
  await runs.make('POST', `/api/companies/${runs.companyId}/archive`)
  await runs.runUntilIdle()
  assert.equal((await runs.runs())[0].status, 'cancelled')
})
