import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertAgent, insertProject, insertRun } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

async function setUp(t: TestContext) {
  const app = createTestApp(t)
  const company = await app.make('POST', '/api/companies', { name: 'Acme', budgetMonthlyCents: 1_000 })
  const ada = insertAgent(app, { company_id: company.id, name: 'Ada' })
  const bob = insertAgent(app, { company_id: company.id, name: 'Bob' })
  const base = `/api/companies/${company.id}`
  const report = (agent: { id: string }, more: object = {}) =>
    app.make('POST', `${base}/cost-events`, {
      agentId: agent.id,
      provider: 'acme',
      model: 'large',
      inputTokens: 100,
      outputTokens: 10,
      costCents: 25,
      ...more,
    })
  const costs = async (what: string) => (await app.request('GET', `${base}/costs/${what}`)).body
  return { ...app, company, ada, bob, base, report, costs }
}

test('reported costs are added to the spend of the company and compared with its budget', async (t) => {
  const { ada, bob, report, costs } = await setUp(t)
  await report(ada)
  await report(bob, { costCents: 0.4 })
  const summary = await costs('summary')
  assert.equal(summary.spendCents, 25.4)
  assert.equal(summary.budgetCents, 1_000)
  assert.equal(summary.utilizationPercent, 2.54)
  assert.equal(summary.inputTokens, 200)
})

test('costs are grouped by agent, project, issue, model and day, highest cost first', async (t) => {
  const { ctx, make, base, company, ada, bob, report, costs } = await setUp(t)
  const projectId = insertProject(ctx, { company_id: company.id, name: 'Tides' })
  const issue = await make('POST', `${base}/issues`, { title: 'Chart', projectId })
  await report(ada)
  await report(bob, { issueId: issue.identifier, costCents: 50, model: 'org/small' })
  const costOf = (rows: { costCents: number }[]) => rows.map((row) => row.costCents)
  const byAgent = await costs('by-agent')
  assert.deepEqual(
    byAgent.map((row: { agentName: string }) => row.agentName),
    ['Bob', 'Ada'],
  )
  assert.deepEqual(costOf(byAgent), [50, 25])
  const [project] = await costs('by-project')
  assert.deepEqual([project.projectName, project.costCents], ['Tides', 50])
  const [byIssue] = await costs('by-issue')
  assert.deepEqual([byIssue.identifier, byIssue.costCents], [issue.identifier, 50])
  const [model] = await costs('by-model')
  assert.deepEqual([model.provider, model.model], ['acme', 'org/small'])
  assert.deepEqual(await costs('by-day').then((days) => days.map((day: { date: string }) => day.date)), ['2026-11-21'])
})

test('a date range includes its first and last day, and no other days', async (t) => {
  const { ada, report, costs } = await setUp(t)
  for (const day of ['2026-10-31', '2026-11-01', '2026-11-15', '2026-11-16']) {
    await report(ada, { occurredAt: `${day}T23:59:59.999Z` })
  }
  assert.equal((await costs('summary?from=2026-11-01&to=2026-11-15')).eventCount, 2)
  assert.equal((await costs('summary?from=2026-10-01&to=2026-12-31')).eventCount, 4)
  assert.equal((await costs('summary')).eventCount, 3)
  assert.equal((await costs('by-day?from=2026-10-01')).length, 4)
})

test('an invalid date range is refused', async (t) => {
  const { request, base } = await setUp(t)
  for (const query of [
    'from=yesterday',
    'to=2026-13-45',
    'from=2026-02-30',
    'from=202',
    'from=2026-11-20&to=2026-11-01',
  ]) {
    assert.equal((await request('GET', `${base}/costs/summary?${query}`)).status, 400, query)
  }
})

test('a cost without a known price is reported as unpriced, not as free', async (t) => {
  const { ada, report, costs } = await setUp(t)
  const event = await report(ada, { costCents: null })
  assert.deepEqual([event.costStatus, event.costCents], ['unpriced', null])
  const summary = await costs('summary')
  assert.deepEqual([summary.unpricedEventCount, summary.spendCents, summary.inputTokens], [1, 0, 100])
})

test('an agent can report only its own costs', async (t) => {
  const { ada, bob, base } = await setUp(t)
  const body = { agentId: bob.id, provider: 'acme', model: 'large', costCents: 1 }
  assert.equal((await ada.request('POST', `${base}/cost-events`, body)).status, 403)
  assert.equal((await bob.request('POST', `${base}/cost-events`, body)).status, 201)
})

test('a cost that references another company is refused and not recorded', async (t) => {
  const { request, make, ada, base, costs } = await setUp(t)
  const other = await make('POST', '/api/companies', { name: 'Other' })
  const issue = await make('POST', `/api/companies/${other.id}/issues`, { title: 'Theirs' })
  const body = { agentId: ada.id, provider: 'acme', model: 'large', costCents: 1, issueId: issue.id }
  assert.equal((await request('POST', `${base}/cost-events`, body)).status, 422)
  assert.equal((await costs('summary')).eventCount, 0)
})

test('grouped costs are paginated, highest cost first, without missing or duplicate entries', async (t) => {
  const { request, ada, base, report } = await setUp(t)
  const cents = [5, 5, 5, 1, 9, 5, 0]
  for (const [i, costCents] of cents.entries()) await report(ada, { model: `m${i}`, costCents })
  const seen: string[] = []
  let next: string | undefined = `${base}/costs/by-model?limit=2`
  for (; next !== undefined; ) {
    const response = await request('GET', next)
    assert.ok(response.body.length <= 2)
    seen.push(...response.body.map((row: { model: string }) => row.model))
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
  }
  assert.deepEqual(seen, ['m4', 'm0', 'm1', 'm2', 'm5', 'm3', 'm6'])
})

test('a cost that a run reports without an issue is recorded on the issue of the run', async (t) => {
  const app = await setUp(t)
  const issue = await app.make('POST', `${app.base}/issues`, { title: 'Chart' })
  const run = await insertRun(app, app.ada, { issue_id: issue.id })
  const body = { agentId: app.ada.id, provider: 'acme', model: 'large', costCents: 120 }
  assert.equal((await run.request('POST', `${app.base}/cost-events`, body)).body.issueId, issue.id)
  assert.equal((await app.report(app.ada, { runId: run.id })).issueId, issue.id)
  assert.equal((await app.request('GET', `/api/issues/${issue.id}/why`)).body.costCents, 145)
})

test('cost events are listed newest first, with pagination and filters', async (t) => {
  const app = await setUp(t)
  for (const day of ['01', '02', '03']) await app.report(app.ada, { occurredAt: `2026-11-${day}T10:00:00Z` })
  await app.report(app.bob, { model: 'small', costCents: null })
  const days = async (query: string) =>
    (await app.request('GET', `${app.base}/cost-events?${query}`)).body.map((event: { occurredAt: string }) =>
      event.occurredAt.slice(8, 10),
    )
  assert.deepEqual(await days(`agentId=${app.ada.id}`), ['03', '02', '01'])
  assert.deepEqual(await days(`agentId=${app.ada.id}&from=2026-11-02&to=2026-11-02`), ['02'])
  assert.equal((await days('model=small&costStatus=unpriced')).length, 1)
  const first = await app.request('GET', `${app.base}/cost-events?agentId=${app.ada.id}&limit=2&count=true`)
  assert.equal(first.headers.get('x-total-count'), '3')
  const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')![1]!
  assert.equal((await app.request('GET', next)).body.length, 1)
})

test('costs are grouped by provider, independent of model names', async (t) => {
  const { ada, report, costs } = await setUp(t)
  await report(ada, { model: 'org/small', costCents: 3 })
  await report(ada, { model: 'large', costCents: 4 })
  await report(ada, { provider: 'other', costCents: 9 })
  const rows = await costs('by-provider')
  assert.deepEqual(
    rows.map((row: { provider: string; costCents: number }) => [row.provider, row.costCents]),
    [
      ['other', 9],
      ['acme', 7],
    ],
  )
  assert.equal((await costs('by-provider?limit=1')).length, 1)
})

test('the CSV export of cost events has no limit and contains no formula cells', async (t) => {
  const app = await setUp(t)
  await app.report(app.ada, { model: '=HYPERLINK("x"),1' })
  for (let i = 0; i < 1_001; i++) await app.report(app.bob, { costCents: 0.5 })
  const { body, headers } = await app.request('GET', `${app.base}/cost-events.csv`)
  assert.match(headers.get('content-type') ?? '', /^text\/csv/)
  const lines = body.trimEnd().split('\r\n')
  assert.equal(lines.length, 1 + 1_002)
  assert.match(lines[0], /^id,occurredAt,agentId,/)
  assert.match(lines.at(-1), /,acme,"'=HYPERLINK\(""x""\),1",100,0,10,25,reported,/)
  const ofAda = (await app.request('GET', `${app.base}/cost-events.csv?agentId=${app.ada.id}`)).body
  assert.equal(ofAda.trimEnd().split('\r\n').length, 2)
})

test('an agent and the history of its issue report whether its costs can be metered live', async (t) => {
  const app = await setUp(t)
  const codex = insertAgent(app, { company_id: app.company.id, name: 'Cody', adapter_type: 'runtimeB_local' })
  const displayed = async (agent: { id: string }) => {
    const { costMetering, costMeteringNote } = (await app.request('GET', `/api/agents/${agent.id}`)).body
    return [costMetering, costMeteringNote]
  }
  assert.deepEqual(await displayed(codex), ['live', null])
  await app.report(codex, { costCents: null })
  assert.match((await displayed(codex))[1], /price of 1 cost of this month is unknown/)
  const [metering, note] = await displayed(app.ada)
  assert.equal(metering, 'none')
  assert.match(note, /cannot be metered live/)
  const issue = await app.make('POST', `${app.base}/issues`, { title: 'Chart' })
  await insertRun(app, app.ada, { issue_id: issue.id })
  assert.deepEqual((await app.request('GET', `/api/issues/${issue.id}/why`)).body.notes, [`Ada: ${note}`])
})
