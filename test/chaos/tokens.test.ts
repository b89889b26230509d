import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endRuns } from './tokens.ts'

test('a token is refused on the first request after its run has ended', async () => {
  assert.deepEqual(await endRuns(40), { accepted: 40, refused: 40 })
})
