import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdConnections } from './slow.ts'

test('slow clients and broken streams neither leak descriptors nor delay other clients', async () => {
  const { healthMs, leaked } = await holdConnections(0.02)
  assert.ok(healthMs < 1_000, `${healthMs} ms`)
  assert.equal(leaked, 0)
})
