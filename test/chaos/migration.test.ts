import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isGuaranteeKept, killMigrations } from './migration.ts'

test('killing a migration at a random moment leaves either the old or the new schema', async () => {
  const report = await killMigrations(3, 2_000)
  assert.ok(isGuaranteeKept(report), JSON.stringify(report))
})
