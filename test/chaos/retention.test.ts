import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMIT_MS, proveRetention } from './retention.ts'

test('the retention of thousands of runs never blocks the main thread for 50 ms', async () => {
  const { deleted, turnMs } = await proveRetention(2_000)
  assert.deepEqual([deleted.runs, deleted.wakes, deleted.runLogs], [90, 100, 100])
  assert.ok(turnMs.most < LIMIT_MS, `${turnMs.most} ms`)
})
