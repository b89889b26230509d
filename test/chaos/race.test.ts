import assert from 'node:assert/strict'
import { test } from 'node:test'
import { race } from './race.ts'

test('of 32 agents that race for one issue over HTTP exactly one wins, and the others learn who', async () => {
  assert.deepEqual(await race(5, 32), { rounds: 5, won: 5, told: 5 * 31 })
})
