import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgeRecords, stopTrees } from './trees.ts'

test('five trees that ignore SIGTERM and fork away are gone within the grace and two seconds', async () => {
  const { took, left } = await stopTrees(5)
  assert.equal(left, 0)
  assert.ok(Math.max(...took) < 4_000, took.join(' '))
})

test('five forged records harm nobody', async () => {
  assert.equal(await forgeRecords(5), 0)
})
