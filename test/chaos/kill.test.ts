import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isKept, killAgainAndAgain } from './kill.ts'

test('a server that is killed at random moments loses no write, no wake and no run', async () => {
  const report = await killAgainAndAgain(5)
  assert.ok(isKept(report), JSON.stringify(report))
  assert.ok(report.runs > 0 && report.writes > 0, JSON.stringify(report))
})
