import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { watchRun } from '../../../src/runtime/process/process.ts'
import { identityOf, isSameProcess, type ProcessIdentity } from '../../../src/runtime/process/process-table.ts'
import { killRun, stopRun } from '../../../src/runtime/process/stop.ts'
import { agentProgram, firstLine, runFolder } from './runs.ts'

/** Starts a process that belongs to no run and leads its own group. */
async function bystander(t: TestContext, env: Record<string, string> = {}): Promise<ChildProcess> {
  const child = spawn(process.execPath, [agentProgram('hang')], {
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => child.kill('SIGKILL'))
  await firstLine(child.stdout!)
  return child
}

const forgeries: Record<string, (real: ProcessIdentity) => ProcessIdentity> = {
  'the right pid, start time and boot, but no marker': (real) => real,
  'another start time': (real) => ({ ...real, startTime: String(Number(real.startTime) - 1) }),
  'another boot': (real) => ({ ...real, bootId: randomUUID() }),
}

for (const [what, forge] of Object.entries(forgeries)) {
  test(`a record with ${what} never causes a signal`, async (t) => {
    const child = await bystander(t)
    const runId = randomUUID()
    const ref = { runId, runDir: runFolder(t, runId), identity: forge(identityOf(child.pid!)!) }
    assert.deepEqual(await stopRun(ref, 0), [])
    assert.equal((await watchRun(ref, { onFacts() {} }).ended).reason, 'never_started')
    assert.ok(isSameProcess(identityOf(child.pid!)!))
    assert.equal(child.signalCode, null)
  })
}

test('a record of the current process or of process 1 never causes a signal', async (t) => {
  for (const pid of [process.pid, 1]) {
    const runId = randomUUID()
    const identity = identityOf(pid)
    assert.ok(identity)
    await stopRun({ runId, runDir: runFolder(t, runId), identity }, 0)
  }
})

test('the cleanup of one run does not affect another run', async (t) => {
  const [mine, other] = [randomUUID(), randomUUID()]
  const child = await bystander(t, { SERVICE_RUN_ID: mine })
  const beside = await bystander(t, { SERVICE_RUN_ID: other, ALSO: mine, X_SERVICE_RUN_ID: mine })
  assert.deepEqual(await killRun(mine), [])
  assert.equal(identityOf(child.pid!), undefined)
  assert.ok(identityOf(beside.pid!))
})
