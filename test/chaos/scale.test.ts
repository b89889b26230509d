import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from './scale.ts'

test('a company of 100 agents misses no timer in three simulated hours', async () => {
  const { runs, fewestRuns } = await simulate({ agents: 100, issues: 500, hours: 3 })
  assert.equal(fewestRuns, 3)
  assert.equal(runs, 300)
})
