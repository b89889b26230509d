import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Context } from '../../../src/platform/context.ts'
import { LONGEST_WAIT_MS } from '../../../src/runtime/executor/backoff.ts'
import { insertRunRow } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { createTestRuns, createTestRunsIn, type TestRuns } from '../../runs.ts'

const invoke = ({ make }: TestRuns, agent: string) => make('POST', `/api/agents/${agent}/heartbeat/invoke`)

const agentOf = async ({ ask }: TestRuns, agent: string) => (await ask('GET', `/api/agents/${agent}`)).body

/** Makes the next writes fail as if the disk returned an error. */
function failWrites(ctx: Context, times: number): void {
  const { write } = ctx
  ctx.write = (change) => {
    if (times-- <= 0) return write(change)
    return Promise.reject(Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' }))
  }
}

const createRunsWithoutShim = (t: TestContext) =>
  createTestRunsIn(createTestApp(t, { environment: { PATH: process.env.PATH ?? '' } }), {
    shim: ['/missing/program'],
  })

test('a run whose shim cannot be started ends, and its wake waits for another try', async (t) => {
  const runs = await createRunsWithoutShim(t)
  const agent = await runs.agentThat('succeed.js')
  for (let i = 1; i <= 4; i++) {
    if (i === 1) await invoke(runs, agent)
    await runs.settle()
    const all = await runs.runs()
    assert.equal(all.length, i)
    assert.deepEqual([all.at(-1).status, all.at(-1).errorCode], ['failed', 'system_error'])
    assert.match(all.at(-1).error, /\/missing\/program/)
    const held = await agentOf(runs, agent)
    assert.deepEqual([held.status, held.pauseReason], ['idle', null], 'it is not the failure of the agent')
    assert.match(held.heldBecause, /\/missing\/program .*tried again at/)
    runs.clock.move(LONGEST_WAIT_MS)
  }
})

test('a moment of disk errors as a run starts and ends costs nothing', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('takes-a-while.js')
  await invoke(runs, agent)
  const running = runs.next('run.running')
  const finished = runs.next('run.finished')
  await runs.tick()
  failWrites(runs.ctx, 2)
  await running
  failWrites(runs.ctx, 2)
  await finished
  assert.deepEqual(
    (await runs.runs()).map((run) => run.status),
    ['succeeded'],
  )
})

test('a tick ends a live run that nobody follows, and it is tried once more', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  insertRunRow(runs.ctx, { id: agent })
  await runs.settle()
  const [lost, retried] = await runs.runs()
  assert.equal(lost.status, 'lost')
  assert.deepEqual([retried.status, retried.retryOfRunId], ['succeeded', lost.id])
})

test('a run without a process can be cancelled', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  const id = insertRunRow(runs.ctx, { id: agent })
  const finished = runs.next('run.finished')
  await runs.make('POST', `/api/runs/${id}/cancel`)
  await finished
  assert.equal((await runs.runs())[0].status, 'cancelled')
})

test('the server enforces the time limit of a run whose shim is stopped', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('hang.js', { config: { timeoutSec: 2 } })
  await invoke(runs, agent)
  const running = runs.next('run.running')
  const finished = runs.next('run.finished')
  await runs.tick()
  await running
  process.kill((await runs.runs())[0].processPid, 'SIGSTOP')
  await finished
  assert.deepEqual(
    (await runs.runs()).map((run) => [run.status, run.errorCode]),
    [['timed_out', 'timed_out']],
  )
})

for (const [code, errorCode, text] of [
  ['ENOSPC', 'disk_full', /disk is full/],
  ['EMFILE', 'file_limit', /limit of open files/],
  ['EPERM', 'system_error', /EPERM/],
  ['EAGAIN', 'process_limit', /limit of processes/],
] as const) {
  test(`${code} during the preparation of a run does not consume its wake`, async (t) => {
    const runs = await createTestRuns(t)
    const agent = await runs.agentThat('succeed.js')
    const { sign } = runs.ctx.tokens
    runs.ctx.tokens.sign = async () => {
      throw Object.assign(new Error(`${code}: injected, open 'x'`), { code, syscall: 'open', path: 'x' })
    }
    await invoke(runs, agent)
    await runs.settle()
    const [failed] = await runs.runs()
    assert.deepEqual([failed.status, failed.errorCode], ['failed', errorCode])
    const held = await agentOf(runs, agent)
    assert.deepEqual([held.status, held.heldUntil], ['idle', '2026-11-21T09:00:10.000Z'])
    assert.match(held.heldBecause, text)

    runs.ctx.tokens.sign = sign
    runs.clock.move(10_000)
    await runs.settle()
    const [, second] = await runs.runs()
    assert.deepEqual([second.status, second.retryOfRunId], ['succeeded', failed.id])
    assert.equal((await agentOf(runs, agent)).heldBecause, null)
  })
}
