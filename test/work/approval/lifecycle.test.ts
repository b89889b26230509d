import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { APPROVAL_STATUSES, type ApprovalStatus, NEXT } from '../../../src/work/approval/lifecycle.ts'
import { createTestApp } from '../../helpers.ts'
import { arrange, insertApproval } from './arrange.ts'

const VERBS: Record<string, ApprovalStatus> = {
  approve: 'approved',
  reject: 'rejected',
  'request-revision': 'revision_requested',
  resubmit: 'pending',
  cancel: 'cancelled',
}

for (const from of APPROVAL_STATUSES) {
  for (const [verb, to] of Object.entries(VERBS)) {
    const allowed = NEXT[from].includes(to)
    const expected = from === to || allowed ? 200 : 422
    test(`to ${verb} an approval that is ${from} returns ${expected}`, async (t) => {
      const { app, company, decide, request } = await arrange(t)
      const approval = insertApproval(app, company.id, from)
      const before = (await request('GET', `/api/approvals/${approval.id}`)).body
      const response = await decide(approval, verb)
      assert.equal(response.status, expected)
      const after = (await request('GET', `/api/approvals/${approval.id}`)).body
      if (allowed) assert.equal(after.status, to)
      else assert.deepEqual(after, before)
      if (expected === 422) {
        assert.equal(response.body.code, 'invalid_transition')
        assert.deepEqual(response.body.details, { status: from, allowed: NEXT[from] })
      }
    })
  }
}

test('schema.sql and lifecycle.ts define the same statuses', (t) => {
  const { ctx } = createTestApp(t)
  const table = ctx.db.first(
    sql.selectFrom(raw<{ sql: string }>`sqlite_master`.as('m')).select('m.sql').where(raw`m.name`, '=', 'approval'),
  )
  const listed = /status in \(([^)]*)\)/.exec(table!.sql)![1]!.replaceAll("'", '').split(', ')
  assert.deepEqual(listed.toSorted(), APPROVAL_STATUSES.toSorted())
})
