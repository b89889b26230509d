import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CHECKS, type CheckName, checkDatabase, deepCheck } from '../../../src/clients/database-check/database-check.ts'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { insertAgent, insertRun, insertSpend } from '../../arrange.ts'
import { plansOf } from '../../plans.ts'
import { setUp } from '../../work/issue/set-up.ts'

/** Creates a company with all kinds of redundant data. */
async function withWork(t: TestContext) {
  const app = await setUp(t)
  const issue = await app.create({ title: 'Count the cents', assigneeAgentId: app.ada.id })
  await app.create({ status: 'backlog' })
  const run = await insertRun(app, app.ada, { issue_id: issue.id })
  await run.request('POST', `/api/issues/${issue.id}/checkout`)
  await run.request('PATCH', `/api/issues/${issue.id}`, { status: 'done', comment: 'Counted.' })
  insertSpend(app.ctx, app.ada, 12)
  await app.make('POST', `/api/companies/${app.company.id}/cost-events`, {
    ...{ agentId: app.ada.id, runId: run.id, issueId: issue.id },
    ...{ provider: 'p', model: 'm', costCents: 0.5, inputTokens: 7, occurredAt: '2026-10-31T23:59:59.999Z' },
  })
  app.ctx.db.run(sql.updateTable('run').set({ status: 'succeeded', idle: 1, finished_at: app.ctx.now }))
  return { ...app, issue, run, damage: (text: string) => app.ctx.db.run(raw`${raw.raw(text)}`.compile(sql)) }
}

test('a check of a database of the server finds no errors', async (t) => {
  const { request, company, activity } = await withWork(t)
  const { status, body } = await request('GET', '/api/instance/check')
  assert.equal(status, 200)
  assert.deepEqual([body.ok, body.findings], [true, []])
  const entries = (await activity()).length
  assert.deepEqual(
    body.activityHeads.map((head: { companyId: string; entries: number }) => [head.companyId, head.entries]),
    [[company.id, entries]],
  )
})

const NO_TRIGGER = 'drop trigger activity_is_append_only'

const DAMAGES: [string, CheckName, string[], number][] = [
  [
    'a total that is wrong by one micro-dollar',
    'cost_totals',
    ["update cost_total set cost_micros = cost_micros + 1 where kind = 'agent' and period = '2026-11'"],
    1,
  ],
  ['a missing total', 'cost_totals', ["delete from cost_total where kind = 'company' and length(period) = 7"], 2],
  ['a missing event', 'cost_totals', ['delete from cost_event where run_id is null'], 10],
  ['a wrong issue count', 'issue_counts', ["update issue_count set n = n + 1 where status = 'done'"], 1],
  ['a wrong run count', 'run_totals', ['update run_total set idle_micros = idle_micros + 1 where n > 0'], 1],
  ['a wrong run count of a company', 'run_totals', ['update company_run_total set n = n + 1 where n > 0'], 1],
  [
    'an altered activity entry',
    'activity_chain',
    [NO_TRIGGER, "update activity set actor_id = 'somebody' where seq = 3"],
    1,
  ],
  [
    'an altered activity entry with a matching hash',
    'activity_chain',
    [NO_TRIGGER, "update activity set hash = 'x' where seq = 3"],
    2,
  ],
  ['a removed activity entry', 'activity_chain', ['delete from activity where seq = 3'], 1],
  ['a removed first activity entry', 'activity_chain', ['delete from activity where seq = 1'], 1],
  [
    'an issue title that is not in the search index',
    'issue_search',
    ['drop trigger issue_text_update', "update issue set title = 'Other' where seq = 1"],
    1,
  ],
  [
    'a deleted comment in the search index',
    'comment_search',
    ['drop trigger comment_text_delete', 'delete from comment'],
    1,
  ],
  [
    'a reference to a missing row',
    'foreign_keys',
    ['pragma foreign_keys = off', "update issue set project_id = 'nothing' where seq = 1"],
    1,
  ],
]

for (const [what, check, statements, count] of DAMAGES) {
  test(`${what} is found`, async (t) => {
    const { ctx, damage } = await withWork(t)
    for (const statement of statements) damage(statement)
    const { ok, findings } = await deepCheck(ctx)
    assert.equal(ok, false)
    assert.deepEqual(
      findings.map((finding) => finding.check),
      Array(count).fill(check),
      JSON.stringify(findings),
    )
  })
}

test('the statement in the finding of a search index repairs it', async (t) => {
  const { ctx, damage } = await withWork(t)
  damage('drop trigger issue_text_update')
  damage("update issue set title = 'Other' where seq = 1")
  const { findings } = await deepCheck(ctx)
  damage(/`(insert [^`]*)`/.exec(findings[0]!.message)![1]!)
  assert.deepEqual((await deepCheck(ctx)).findings, [])
})

test('a recorded hash detects removed last entries', async (t) => {
  const { ctx, damage } = await withWork(t)
  const noted = (await deepCheck(ctx)).activityHeads[0]!.hash
  assert.equal((await deepCheck(ctx, { noted })).ok, true)
  damage('delete from activity where seq = (select max(seq) from activity)')
  assert.equal((await deepCheck(ctx)).ok, true)
  assert.deepEqual(
    (await deepCheck(ctx, { noted })).findings.map((finding) => finding.check),
    ['activity_chain'],
  )
})

test('only the board of the server can run a check of the whole server', async (t) => {
  const app = await setUp(t)
  const ceo = insertAgent(app, { company_id: app.company.id, role: 'ceo' })
  assert.equal((await ceo.request('GET', '/api/instance/check')).status, 403)
  assert.equal((await app.request('GET', '/api/instance/check?only=nothing')).status, 400)
  const { body } = await app.request('GET', '/api/instance/check?only=issue_counts,run_totals')
  assert.deepEqual(body.checks, ['issue_counts', 'run_totals'])
})

test('the check takes linear time: no query scans a table in an inner loop', async (t) => {
  const { ctx } = await withWork(t)
  const plans = plansOf(ctx, (db) => deepCheck({ db, vault: ctx.vault }, { only: CHECKS.slice(4, 7) }))
  assert.ok(plans.length > 0)
  // A full join of two subqueries takes quadratic time.
  assert.ok(!plans.some((step) => /RIGHT-JOIN|LEFT-JOIN/.test(step)), plans.join('\n'))
})

test('a check by the server reports progress and finds no errors, also with many issues', async (t) => {
  const { ctx, damage, company } = await withWork(t)
  damage(`with recursive n(i) as (select 1000 union all select i + 1 from n where i < 30999)
    insert into issue (id, company_id, issue_number, identifier, title, status, created_at, updated_at)
    select 'i' || i, '${company.id}', i, 'WAL-' || i, 'Issue number ' || i, 'todo', '${ctx.now}', '${ctx.now}' from n`)
  damage(`insert into cost_event (id, company_id, issue_id, provider, model, cost_micros, cost_status, occurred_at, created_at)
    select 'c' || id, company_id, id, 'p', 'm', 1, 'reported', created_at, created_at from issue where issue_number >= 1000 limit 20000`)
  // The end of a write indexes their texts.
  await ctx.write(() => {})
  const steps: string[] = []
  const { findings, checks } = await checkDatabase(ctx, { onProgress: ({ check }) => steps.push(check) })
  assert.deepEqual(findings, [])
  assert.deepEqual(steps, checks)
})
