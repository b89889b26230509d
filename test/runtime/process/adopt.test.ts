import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { watchRun } from '../../../src/runtime/process/process.ts'
import {
  findShim,
  isSameProcess,
  markedProcesses,
  type ProcessIdentity,
} from '../../../src/runtime/process/process-table.ts'
import type { RunSpec } from '../../../src/runtime/process/run-files.ts'
import { stopRun } from '../../../src/runtime/process/stop.ts'
import { firstLine, logOf, logShows, runFolder, SHIM, specOf, start, until } from './runs.ts'

/** Starts a run and kills its server with SIGKILL. */
async function orphan(t: TestContext, spec: RunSpec) {
  const runDir = runFolder(t, spec.runId)
  const server = spawn(process.execPath, [path.join(import.meta.dirname, 'server-fixture.ts'), runDir, ...SHIM], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  server.stdin.end(JSON.stringify(spec))
  const identity = JSON.parse(await firstLine(server.stdout)) as ProcessIdentity
  await until(() => logOf(runDir) !== '', 'output')
  server.kill('SIGKILL')
  await once(server, 'exit')
  return { runId: spec.runId, runDir, identity }
}

test('a run continues after its server ends, and the next server reports its exit code', async (t) => {
  const ref = await orphan(t, specOf('slow-lines'))
  assert.ok(isSameProcess(ref.identity))
  const end = await watchRun(ref, { onFacts() {} }).ended
  assert.deepEqual([end.reason, end.exitCode], ['exited', 7])
  assert.equal(logOf(ref.runDir), 'one piece at a time\n')
  assert.ok(!isSameProcess(ref.identity))
})

test('a server reports runs that ended while no server was running', async (t) => {
  const ref = await orphan(t, specOf('slow-lines'))
  await until(() => !isSameProcess(ref.identity), 'the end of the run')
  assert.equal((await watchRun(ref, { onFacts() {} }).ended).exitCode, 7)
})

test('the limits of a run are enforced without a server', async (t) => {
  const ref = await orphan(t, specOf('ignore-sigterm', [], { timeoutSec: 1, graceSec: 0.2 }))
  await until(() => !markedProcesses().has(ref.runId), 'the end of the run')
  assert.equal((await watchRun(ref, { onFacts() {} }).ended).reason, 'timed_out')
})

test('an adopted run can be stopped like any other run', async (t) => {
  const ref = await orphan(t, specOf('fork-and-leave', ['stay']))
  const run = watchRun(ref, { onFacts() {} })
  assert.deepEqual(await stopRun(ref, 0.5), [])
  assert.equal((await run.ended).reason, 'stopped')
})

test('an adopted run is lost if its shim dies, and its processes are killed', async (t) => {
  const ref = await orphan(t, specOf('chatty'))
  const run = watchRun(ref, { onFacts() {} })
  process.kill(ref.identity.pid, 'SIGKILL')
  assert.equal((await run.ended).reason, 'lost')
  assert.equal(markedProcesses().has(ref.runId), false)
})

test('a run without a recorded shim is found by its marker', async (t) => {
  const ref = await orphan(t, specOf('fork-and-leave', ['stay']))
  assert.deepEqual(findShim(ref.runId), ref.identity)
  assert.equal(markedProcesses().get(ref.runId)?.length, 3)
  assert.deepEqual(await stopRun({ ...ref, identity: null }, 0), [])
  assert.equal(findShim(ref.runId), undefined)
})

test('a run that was never started is detected', async (t) => {
  const spec = specOf('succeed')
  const ref = { runId: spec.runId, runDir: runFolder(t, spec.runId), identity: null }
  assert.equal((await watchRun(ref, { onFacts() {} }).ended).reason, 'never_started')
})

test('closing a handle does not affect the run', async (t) => {
  const run = await start(t, specOf('chatty'))
  await logShows(run.runDir, 'err 3')
  run.close()
  const before = logOf(run.runDir).length
  await until(() => logOf(run.runDir).length > before, 'more output')
  const again = watchRun(run, { onFacts() {} })
  await stopRun(run, 1)
  assert.equal((await again.ended).reason, 'stopped')
})
