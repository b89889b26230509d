import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { CHECKED_OUT_FROM, ISSUE_STATUSES, type IssueStatus, NEXT } from '../../../src/work/issue/lifecycle.ts'
import { insertAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

/** The table of transitions, copied from the contract. */
const CONTRACT: [IssueStatus, IssueStatus][] = [
  ['backlog', 'todo'],
  ['todo', 'in_progress'],
  ['in_progress', 'in_review'],
  ['in_progress', 'blocked'],
  ['in_progress', 'done'],
  ['in_review', 'done'],
  ['in_review', 'in_progress'],
  ['blocked', 'todo'],
  ['blocked', 'in_progress'],
]

test('the transitions match the contract, and only an open issue can be cancelled', () => {
  const open: IssueStatus[] = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked']
  const expected = [...CONTRACT, ...open.map((from) => [from, 'cancelled'])].map(String).sort()
  const actual = ISSUE_STATUSES.flatMap((from) => NEXT[from].map((to) => [from, to])).map(String)
  assert.deepEqual(actual.sort(), expected)
})

test('schema.sql and lifecycle.ts define the same statuses', () => {
  const schema = readFileSync(path.join(packageRoot(), 'schema.sql'), 'utf8')
  const table = /create table issue \(([\s\S]*?)\n\) strict/.exec(schema)![1]!
  const check = /status +text not null check \((status = '[^)]*)\)/.exec(table)![1]!
  assert.deepEqual(
    check.split(' or ').map((equality) => equality.slice("status = '".length, -1)),
    [...ISSUE_STATUSES],
  )
})

test('a checkout accepts the statuses that can become in progress', () => {
  assert.deepEqual([...CHECKED_OUT_FROM].sort(), ['blocked', 'in_review', 'todo'])
})

for (const from of ISSUE_STATUSES) {
  for (const to of ISSUE_STATUSES) {
    const can = from === to || NEXT[from].includes(to)
    test(`an issue that is ${from} ${can ? 'can' : 'cannot'} be made ${to}`, async (t) => {
      const app = createTestApp(t)
      const company = await app.make('POST', '/api/companies', { name: 'Walrus' })
      const agent = insertAgent(app, { company_id: company.id })
      const issue = await app.make('POST', `/api/companies/${company.id}/issues`, {
        title: 'Do',
        status: from,
        assigneeAgentId: agent.id,
      })
      app.clock.move(1_000)
      const { status, body } = await app.request('PATCH', `/api/issues/${issue.id}`, { status: to })
      if (can) {
        assert.equal(status, 200)
        assert.equal(body.status, to)
        if (from === to) return assert.deepEqual(body, issue)
        assert.equal(body.completedAt, to === 'done' ? app.ctx.now : null)
        assert.equal(body.cancelledAt, to === 'cancelled' ? app.ctx.now : null)
        if (to === 'in_progress') assert.equal(body.started_at, app.ctx.now)
      } else {
        assert.equal(status, 422)
        assert.equal(body.code, 'invalid_transition')
        assert.deepEqual(body.details, { from, to, allowed: NEXT[from] })
        assert.equal((await app.request('GET', `/api/issues/${issue.id}`)).body.status, from)
      }
    })
  }
}
