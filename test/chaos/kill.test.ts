import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isGuaranteeKept, killRepeatedly } from './kill.ts'

test('killing a server at random moments loses no write, no wake and no run', async () => {
  const report = await killRepeatedly(5)
  assert.ok(isGuaranteeKept(report), JSON.stringify(report))
  assert.ok(report.runs > 0 && report.writes > 0, JSON.stringify(report))
})
