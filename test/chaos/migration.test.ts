import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isKept, killMigrations } from './migration.ts'

test('a migration that is killed at a random moment leaves the old schema or the new one', async () => {
  const report = await killMigrations(3, 2_000)
  assert.ok(isKept(report), JSON.stringify(report))
})
