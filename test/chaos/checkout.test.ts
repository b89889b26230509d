import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFault, recordHistory, withFaults } from './checkout.ts'

test('checkouts and releases of 32 clients are linearizable per issue, and the checker detects an incorrect history', async () => {
  const history = await recordHistory(2_000, 32)
  assert.equal(findFault(history.operations, history.changes), undefined)
  for (const [name, { operations, changes }] of Object.entries(withFaults(history))) {
    assert.ok(findFault(operations, changes), name)
  }
})
