import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdConnections } from './slow.ts'

test('slow clients and torn streams neither leak descriptors nor keep others waiting', async () => {
  const { healthMs, leaked } = await holdConnections(0.02)
  assert.ok(healthMs < 1_000, `${healthMs} ms`)
  assert.equal(leaked, 0)
})
