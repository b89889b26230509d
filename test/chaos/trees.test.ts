import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgeRecords, stopTrees } from './trees.ts'

test('five process trees that ignore SIGTERM and detach are killed within the grace period and two seconds', async () => {
  const { took, left } = await stopTrees(5)
  assert.equal(left, 0)
  assert.ok(Math.max(...took) < 4_000, took.join(' '))
})

test('five forged process records cause no signal to other processes', async () => {
  assert.equal(await forgeRecords(5), 0)
})
