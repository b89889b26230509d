import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { markedProcesses } from '../../../src/runtime/process/process-table.ts'
import { readExit } from '../../../src/runtime/process/run-files.ts'
import { temporaryFolder } from '../../helpers.ts'
import { logOf, logShows, specOf, start, until } from './runs.ts'

/** Starts a run that ends with exit code 3 when `finish` is called. Nobody follows it. */
async function startWaiting(t: TestContext) {
  const signal = path.join(temporaryFolder(t), 'finish')
  const script = `echo begun; while [ ! -e '${signal}' ]; do sleep 0.02; done; echo over; exit 3`
  const run = await start(t, { ...specOf('succeed'), command: '/bin/sh', args: ['-c', script] })
  await logShows(run.runDir, 'begun')
  run.close()
  return { ...run, finish: () => writeFileSync(signal, '') }
}

test('a run records its log and its outcome in its folder if the folder is moved during the run', async (t) => {
  const { runDir, runId, finish } = await startWaiting(t)
  const moved = path.join(temporaryFolder(t), 'moved')
  renameSync(runDir, moved)
  finish()
  await until(() => readExit(moved) !== undefined, 'the exit record')
  assert.deepEqual([readExit(moved)!.exitCode, readExit(moved)!.reason], [3, 'exited'])
  assert.match(logOf(moved), /begun\nover\n/)
  await until(() => !markedProcesses().has(runId), 'the exit of the shim, which follows its record')
})

test('a run whose folder is deleted ends with all its processes', async (t) => {
  const { runDir, runId } = await startWaiting(t)
  rmSync(runDir, { recursive: true })
  await until(() => !markedProcesses().has(runId), 'the end of the processes')
})
