import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RawBuilder } from 'kysely'
import { deepCheck } from '../../../src/clients/database-check/database-check.ts'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { setUp } from '../issue/set-up.ts'

test('the search indexes match the rows after any sequence of edits', async (t) => {
  const { ctx, create, make, request } = await setUp(t)
  const run = (query: RawBuilder<unknown>) => ctx.write(() => ctx.db.run(query.compile(sql)))
  const issues = [await create({ title: 'One' }), await create({ title: 'Two' }), await create({ title: 'Three' })]
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map((words) => `x ${words}`)
  const edit = fc.record({ kind: fc.constantFrom('patch', 'comment', 'edit', 'delete'), which: fc.nat(2), text })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { maxLength: 12 }), async (edits) => {
      for (const { kind, which, text } of edits) {
        const { id } = issues[which]!
        const isOfIssue = raw`issue_seq = (select seq from issue where id = ${id})`
        if (kind === 'patch')
          assert.equal((await request('PATCH', `/api/issues/${id}`, { description: text })).status, 200)
        if (kind === 'comment') await make('POST', `/api/issues/${id}/comments`, { body: text })
        if (kind === 'edit') await run(raw`update comment set body = ${text} where ${isOfIssue}`)
        if (kind === 'delete') await run(raw`delete from comment where ${isOfIssue}`)
      }
      assert.deepEqual(deepCheck(ctx, { only: ['issue_search', 'comment_search'] }).findings, [])
    }),
    { numRuns: 20 },
  )
})
