import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../../src/access/activity/actions.ts'
import { hashActivity, recordActivity } from '../../../src/access/activity/record.ts'
import { SYSTEM } from '../../../src/access/caller/caller.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { createTestApp } from '../../helpers.ts'

test('the hash chain of activities has no gap when a write of a batch is rolled back', async (t) => {
  const { ctx, make } = createTestApp(t)
  const { id: companyId } = await make('POST', '/api/companies', { name: 'Acme' })
  const record = (action: Action) =>
    recordActivity(ctx, SYSTEM, { companyId, action, entity: { type: 'company', id: companyId } })
  const refused = (action: Action) => () => {
    record(action)
    throw new Error('refused')
  }
  await Promise.allSettled([
    ctx.write(() => record('company.created')),
    ctx.write(refused('company.resumed')),
    ctx.write(() => record('company.updated')),
    ctx.write(refused('company.archived')),
  ])
  await ctx.write(() => record('company.paused'))
  const rows = ctx.db.all(sql.selectFrom('activity').selectAll().orderBy('seq'))
  assert.deepEqual(
    rows.slice(-3).map((row) => row.action),
    ['company.created', 'company.updated', 'company.paused'],
  )
  for (const [i, row] of rows.entries()) {
    assert.equal(row.previous_hash, rows[i - 1]?.hash ?? '')
    assert.equal(row.hash, hashActivity(row))
  }
})
