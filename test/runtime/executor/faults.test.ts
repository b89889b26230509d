import assert from 'node:assert/strict'
import childProcess from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Context } from '../../../src/platform/context.ts'
import { LONGEST_WAIT_MS } from '../../../src/runtime/executor/backoff.ts'
import { markedProcesses } from '../../../src/runtime/process/process-table.ts'
import { insertRunRow } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { createTestRuns, createTestRunsIn, type TestRuns } from '../../runs.ts'

const invoke = ({ make }: TestRuns, agent: string) => make('POST', `/api/agents/${agent}/heartbeat/invoke`)

const agentOf = async ({ request }: TestRuns, agent: string) => (await request('GET', `/api/agents/${agent}`)).body

const sqliteError = (code: string) => Object.assign(new Error('a fault of SQLite'), { code })

/** Makes the next writes fail as if the disk returned an error. */
function failWrites(ctx: Context, times: number, code = 'SQLITE_IOERR_WRITE'): void {
  const { write } = ctx
  ctx.write = (change) => (times-- <= 0 ? write(change) : Promise.reject(sqliteError(code)))
}

/** Makes the next reads fail, inside and outside of write transactions. */
function failReads({ db }: Context, times: number): void {
  for (const read of ['first', 'all'] as const) {
    const original = db[read] as (query: unknown) => never
    db[read] = (query: unknown) => {
      if (times-- <= 0) return original(query)
      throw sqliteError('SQLITE_IOERR_READ')
    }
  }
}

function createRunsWithShim(t: TestContext, shim: (dataDir: string) => string) {
  const app = createTestApp(t, { environment: { PATH: process.env.PATH ?? '' } })
  return createTestRunsIn(app, { shim: [shim(app.config.dataDir)] })
}

/** Makes the start of each shim fail, as an exception of `spawn` or as an event of the child. */
function failSpawn(t: TestContext, code: string, how: 'exception' | 'event') {
  const { spawn } = childProcess
  const fail = (...args: Parameters<typeof spawn>) => {
    if (args[2].detached !== true || !String(args[2].cwd).includes('/runs/')) return spawn(...args)
    const error = Object.assign(new Error(`spawn ${code}`), { code, syscall: 'spawn' })
    if (how === 'exception') throw error
    // What Node returns if no file descriptor is left: a child without pipes.
    const child = Object.assign(new EventEmitter(), { pid: undefined, stdin: undefined, kill: () => false })
    setImmediate(() => child.emit('error', error))
    return child as never
  }
  const mock = t.mock.method(childProcess, 'spawn', fail as never)
  syncBuiltinESMExports()
  const restore = () => {
    mock.mock.restore()
    syncBuiltinESMExports()
  }
  t.after(restore)
  return restore
}

test('a run ends if its shim cannot start, and its wake is retried', async (t) => {
  const runs = await createRunsWithShim(t, () => '/missing/program')
  const agent = await runs.agentThat('succeed.js')
  for (let i = 1; i <= 4; i++) {
    if (i === 1) await invoke(runs, agent)
    await runs.runUntilIdle()
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

test('a run ends if its shim is not executable, and its wake is retried', async (t) => {
  const runs = await createRunsWithShim(t, (dataDir) => {
    const file = path.join(dataDir, 'not-executable')
    writeFileSync(file, '', { mode: 0o600 })
    return file
  })
  const agent = await runs.agentThat('succeed.js')
  await invoke(runs, agent)
  await runs.runUntilIdle()
  const [failed] = await runs.runs()
  assert.deepEqual([failed.status, failed.errorCode], ['failed', 'system_error'])
  assert.match((await agentOf(runs, agent)).heldBecause, /EACCES/)
})

for (const [code, errorCode] of [
  ['EMFILE', 'file_limit'],
  ['ENFILE', 'file_limit'],
  ['EAGAIN', 'process_limit'],
  ['ENOMEM', 'out_of_memory'],
] as const) {
  for (const how of ['exception', 'event'] as const) {
    test(`${code} at the start of a shim, as an ${how}, does not consume the wake`, async (t) => {
      const runs = await createTestRuns(t)
      const agent = await runs.agentThat('succeed.js')
      const restore = failSpawn(t, code, how)
      await invoke(runs, agent)
      await runs.runUntilIdle()
      const [failed] = await runs.runs()
      assert.deepEqual([failed.status, failed.errorCode], ['failed', errorCode])
      restore()
      runs.clock.move(10_000)
      await runs.runUntilIdle()
      const [, second] = await runs.runs()
      assert.deepEqual([second.status, second.retryOfRunId], ['succeeded', failed.id])
    })
  }
}

/** Claims a run of a program that takes a while. It is not running yet. */
async function beginLongRun(t: TestContext) {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('takes-a-while.js')
  await invoke(runs, agent)
  const running = runs.next('run.running')
  const finished = runs.next('run.finished')
  await runs.tick()
  return { runs, running, finished }
}

// At the same time, because each waits for the retries.
test('temporary faults of the database have no effect on a run', { concurrency: true }, async (t) => {
  const ofWrites = ['SQLITE_IOERR_WRITE', 'SQLITE_BUSY', 'SQLITE_READONLY', 'database_damaged'].map((code) =>
    t.test(`a temporary ${code} at the start and end of a run has no effect`, async (t) => {
      const { runs, running, finished } = await beginLongRun(t)
      failWrites(runs.ctx, 2, code)
      await running
      failWrites(runs.ctx, 2, code)
      await finished
      assert.deepEqual(
        (await runs.runs()).map((run) => run.status),
        ['succeeded'],
      )
    }),
  )
  const ofReads = [1, 2, 3, 5, 8].map((reads) =>
    t.test(`${reads} failed reads at the start and end of a run do not stop it`, async (t) => {
      const { runs, running, finished } = await beginLongRun(t)
      await running
      failReads(runs.ctx, reads)
      await finished
      const all = await runs.runs()
      assert.deepEqual(
        all.map((run) => [run.status, run.errorCode]),
        [['succeeded', null]],
      )
    }),
  )
  await Promise.all([...ofWrites, ...ofReads])
})

test('failed reads during the preparation of a run do not consume its wake', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  const { sign } = runs.ctx.tokens
  runs.ctx.tokens.sign = (run) => {
    failReads(runs.ctx, 1)
    runs.ctx.tokens.sign = sign
    return sign(run)
  }
  await invoke(runs, agent)
  await runs.runUntilIdle()
  const [failed] = await runs.runs()
  assert.deepEqual([failed.status, failed.errorCode], ['failed', 'disk_error'])
  runs.clock.move(10_000)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).at(-1).status, 'succeeded')
})

test('a runs folder that is not writable does not consume a wake', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  const folder = path.join(runs.config.dataDir, 'runs')
  rmSync(folder, { recursive: true, force: true })
  writeFileSync(folder, 'a file in its place')
  await invoke(runs, agent)
  await runs.runUntilIdle()
  const [failed] = await runs.runs()
  assert.deepEqual([failed.status, failed.errorCode], ['failed', 'system_error'])
  assert.match(failed.error, /mkdir/)
  rmSync(folder)
  runs.clock.move(10_000)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).at(-1).status, 'succeeded')
})

test('a database that is not writable does not delay a stop of the server', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('hang.js')
  await invoke(runs, agent)
  const running = runs.next('run.running')
  await runs.tick()
  await running
  failWrites(runs.ctx, 1_000)
  await runs.executor.stopAll()
})

test('a tick ends a live run without a follower, and retries it once', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  insertRunRow(runs.ctx, { id: agent })
  await runs.runUntilIdle()
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

test('the server enforces the limits of a run if its shim is stopped', { concurrency: true }, async (t) => {
  const limits = [
    { what: 'time', config: { timeoutSec: 2 }, errorCode: 'timed_out' },
    { what: 'silence', config: { silenceSec: 2 }, errorCode: 'silent' },
  ].map(({ what, config, errorCode }) =>
    t.test(`the server enforces the ${what} limit of a run if its shim is stopped`, async (t) => {
      const runs = await createTestRuns(t)
      const agent = await runs.agentThat('hang.js', { config })
      await invoke(runs, agent)
      const running = runs.next('run.running')
      const finished = runs.next('run.finished')
      await runs.tick()
      await running
      process.kill((await runs.runs())[0].processPid, 'SIGSTOP')
      await finished
      assert.deepEqual(
        (await runs.runs()).map((run) => [run.status, run.errorCode]),
        [['timed_out', errorCode]],
      )
    }),
  )
  await Promise.all(limits)
})

test('a run with a stopped shim can be cancelled, and leaves no process', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('escapes.js', { args: [randomUUID(), 'stay'] })
  await invoke(runs, agent)
  const running = runs.next('run.running')
  const finished = runs.next('run.finished')
  await runs.tick()
  await running
  const [{ id, processPid }] = await runs.runs()
  process.kill(processPid, 'SIGSTOP')
  await runs.make('POST', `/api/runs/${id}/cancel`)
  await finished
  const [run] = await runs.runs()
  assert.deepEqual([run.status, run.stopReason], ['cancelled', 'cancelled'])
  assert.equal(markedProcesses().has(id), false)
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
    await runs.runUntilIdle()
    const [failed] = await runs.runs()
    assert.deepEqual([failed.status, failed.errorCode], ['failed', errorCode])
    const held = await agentOf(runs, agent)
    assert.deepEqual([held.status, held.heldUntil], ['idle', '2026-11-21T09:00:10.000Z'])
    assert.match(held.heldBecause, text)

    runs.ctx.tokens.sign = sign
    runs.clock.move(10_000)
    await runs.runUntilIdle()
    const [, second] = await runs.runs()
    assert.deepEqual([second.status, second.retryOfRunId], ['succeeded', failed.id])
    assert.equal((await agentOf(runs, agent)).heldBecause, null)
  })
}
