import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { v7 as uuid } from 'uuid'
import { ACTIONS } from '../../../src/access/activity/actions.ts'
import type { ActivityRow } from '../../../src/access/activity/queries.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { NO_FACTS } from '../../../src/runtime/executor/facts.ts'
import { finishRun } from '../../../src/runtime/executor/finish.ts'
import { claimRuns } from '../../../src/runtime/scheduler/claim.ts'
import { activitySentence } from '../../../src/runtime/why/activity-sentence.ts'
import { forgetWakes, insertAgent, insertIssue, insertRunRow, type TestAgent } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { createTestRuns } from '../../runs.ts'

interface Step {
  id: string
  depth: number
  text: string
  runId: string | null
  costCents: number | null
}

const storyOf = (steps: Step[]) => steps.map(({ depth, text }) => `${'  '.repeat(depth)}${text}`)

/** Creates two agents, the second below the first, and defines the actions of their runs. */
async function withTeam(t: TestContext) {
  const app = createTestApp(t)
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  const ada = insertAgent(app, { company_id: company.id, name: 'Ada', role: 'manager' })
  const kit = insertAgent(app, { company_id: company.id, name: 'Kit', reports_to: ada.id })
  const path = `/api/companies/${company.id}/issues`
  return { app, path, ada, kit }
}

/** Starts the queued run of an agent, as the scheduler does, and records a cost on it. */
async function runOf(app: TestApp, agent: TestAgent, cents: number) {
  app.clock.move(1_000)
  const [run] = await app.ctx.write(() => claimRuns(app.ctx).filter((one) => one.agent_id === agent.id))
  assert.ok(run)
  const token = await app.ctx.tokens.sign({ id: run.id, agentId: agent.id, companyId: agent.company_id })
  const end = async () => {
    app.clock.move(1_000)
    const issueId = app.ctx.db.first(sql.selectFrom('run').select('issue_id').where('id', '=', run.id))!.issue_id
    const event = { id: uuid(), company_id: agent.company_id, agent_id: agent.id, issue_id: issueId, run_id: run.id }
    const cost = { provider: 'p', model: 'm', cost_micros: cents * 10_000, cost_status: 'reported' as const }
    app.ctx.db.run(
      sql.insertInto('cost_event').values({ ...event, ...cost, occurred_at: app.ctx.now, created_at: app.ctx.now }),
    )
    const ending = { reason: 'exited' as const, exitCode: 0, signal: null, error: null, at: app.ctx.now }
    await app.ctx.write(() => finishRun(app.ctx, run.id, ending, NO_FACTS))
  }
  return { id: run.id, request: app.as(token), end }
}

test('the history of an issue follows runs and other issues back to the original cause', async (t) => {
  const { app, path, ada, kit } = await withTeam(t)
  await app.make('POST', path, { title: 'Launch', assigneeAgentId: ada.id })
  const first = await runOf(app, ada, 4)
  const child = await first.request('POST', '/api/issues/ACM-1/children', { title: 'Draw', assigneeAgentId: kit.id })
  assert.equal(child.status, 201)
  await first.end()
  const second = await runOf(app, kit, 3)
  await second.request('POST', '/api/issues/ACM-2/checkout')
  await second.request('PATCH', '/api/issues/ACM-2', { status: 'done', comment: 'It is drawn.' })
  await second.end()

  const why = await app.make('GET', '/api/issues/acm-2/why')
  assert.deepEqual(storyOf(why.steps), [
    'the board created ACM-1 “Launch” for Ada',
    '  Ada ran on ACM-1 (issue assigned)',
    '    Ada created ACM-2 “Draw” for Kit',
    '      Kit ran on ACM-2 (issue assigned)',
    '        Kit took ACM-2 and started work',
    '        Kit set ACM-2 from in progress to done',
    '        Kit said on ACM-2 “It is drawn.”',
  ])
  assert.deepEqual([why.costCents, why.costStatus, why.runCount, why.isCut], [3, 'reported', 1, false])
  assert.deepEqual(
    why.steps.filter((step: Step) => step.costCents !== null).map((step: Step) => [step.runId, step.costCents]),
    [
      [first.id, 4],
      [second.id, 3],
    ],
  )
  const above = await app.make('GET', '/api/issues/ACM-1/why')
  assert.ok(
    above.steps.some((step: Step) => step.text === 'Kit set ACM-2 from in progress to done'),
    'what woke Ada',
  )
})

test('the history names a comment, a mention, an invocation and a resolved blocker as causes', async (t) => {
  const { app, path, ada, kit } = await withTeam(t)
  await app.make('POST', path, { title: 'Read', status: 'backlog' })
  await app.make('POST', path, {
    title: 'Draw',
    status: 'backlog',
    assigneeAgentId: kit.id,
    blockedByIssueIds: ['ACM-1'],
  })
  const cases: [() => Promise<unknown>, TestAgent, string][] = [
    [
      () => app.make('POST', '/api/issues/ACM-2/comments', { body: 'How  far?\n' }),
      kit,
      'the board said on ACM-2 “How far?”',
    ],
    [
      () => app.make('POST', '/api/issues/ACM-2/comments', { body: '@Ada look' }),
      ada,
      'the board said on ACM-2 “@Ada look”',
    ],
    [
      () => app.make('POST', `/api/agents/${kit.id}/wakeup`, { issueId: 'ACM-2', reason: 'Go on.' }),
      kit,
      'the board woke Kit: Go on.',
    ],
    [
      () => app.make('PATCH', '/api/issues/ACM-1', { status: 'cancelled' }),
      kit,
      'the board set ACM-1 from backlog to cancelled',
    ],
  ]
  for (const [cause, agent, text] of cases) {
    forgetWakes(app.ctx)
    await cause()
    // The other agent may also have been woken.
    app.ctx.db.run(sql.deleteFrom('wake').where('agent_id', '<>', agent.id).where('status', '=', 'waiting'))
    const run = await runOf(app, agent, 0)
    await run.end()
    const { steps } = await app.make('GET', '/api/issues/ACM-2/why')
    const at = steps.findIndex((step: Step) => step.id === run.id)
    assert.ok(at > 0, text)
    const received = steps.find((step: { id: string }) => step.id === steps[at].causeId)
    assert.equal(received?.text, text)
  }
})

test('a retry is listed under the failed run, with the reason of the failure', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await runs.agentThat('fail.js')
  await runs.make('POST', `/api/companies/${runs.companyId}/issues`, { title: 'Draw', assigneeAgentId: agentId })
  await runs.runUntilIdle()
  const waiting = storyOf((await runs.make('GET', '/api/issues/ACM-1/why')).steps)
  assert.match(waiting.at(-1)!, /^ {4}fail\.js is to run \(issue assigned\) at /)
  runs.clock.move(60_000)
  await runs.runUntilIdle()
  const { steps } = await runs.make('GET', '/api/issues/ACM-1/why')
  assert.deepEqual(storyOf(steps).slice(0, 3), [
    'the board created ACM-1 “Draw” for fail.js',
    '  fail.js ran on ACM-1 (issue assigned): failed, The program exited with code 3: no luck',
    '    fail.js ran again on ACM-1: failed, The program exited with code 3: no luck',
  ])
})

test('a wake that the budget blocks reports the amount in dollars, and the history keeps the pause', async (t) => {
  const { app, path, kit } = await withTeam(t)
  await app.make('PATCH', `/api/agents/${kit.id}`, { budgetMonthlyCents: 150 })
  await app.make('POST', path, { title: 'Draw', assigneeAgentId: kit.id })
  const cost = { agentId: kit.id, provider: 'p', model: 'm', inputTokens: 0, outputTokens: 0, costCents: 175 }
  await app.make('POST', `/api/companies/${kit.company_id}/cost-events`, cost)
  app.clock.move(1_000)
  const paused =
    '  the server paused Kit: Its budget of $1.50 for this month is spent. Raise it, or wait for the next month'
  assert.deepEqual(storyOf((await app.make('GET', '/api/issues/ACM-1/why')).steps), [
    'the board created ACM-1 “Draw” for Kit',
    '  Kit is to run (issue assigned), held by its budget: Kit has spent $1.75 of its $1.50 for this month. Raise the budget',
    paused,
  ])
  await app.make('PATCH', `/api/agents/${kit.id}`, { budgetMonthlyCents: 500 })
  const run = await runOf(app, kit, 10)
  await run.end()
  assert.deepEqual(storyOf((await app.make('GET', '/api/issues/ACM-1/why')).steps), [
    'the board created ACM-1 “Draw” for Kit',
    paused,
    '  the server resumed Kit',
    '  Kit ran on ACM-1 (issue assigned)',
  ])
})

test('entries with the same timestamp are in the order of the events', async (t) => {
  const { app, path, kit } = await withTeam(t)
  await app.make('POST', path, { title: 'Draw', status: 'backlog' })
  for (let i = 0; i < 5; i++) await app.make('POST', '/api/issues/ACM-1/comments', { body: `No. ${i}` })
  await app.make('PATCH', '/api/issues/ACM-1', { status: 'todo', comment: 'Go on.' })
  await app.make('PATCH', '/api/issues/ACM-1', { priority: 'high', assigneeAgentId: kit.id })
  const steps: (Step & { at: string })[] = (await app.make('GET', '/api/issues/ACM-1/why')).steps
  assert.equal(new Set(steps.map(({ at }) => at)).size, 1)
  assert.deepEqual(storyOf(steps), [
    'the board created ACM-1 “Draw”',
    ...[0, 1, 2, 3, 4].map((i) => `the board said on ACM-1 “No. ${i}”`),
    'the board set ACM-1 from backlog to todo',
    'the board said on ACM-1 “Go on.”',
    'the board gave ACM-1 to Kit and changed the priority of ACM-1',
    '  Kit is to run (issue assigned)',
  ])
})

test('every activity action has a sentence with a verb and an object', () => {
  const names = { agent: () => 'Kit', user: () => 'Mia', issue: () => 'ACM-1' }
  const sentences = Object.entries(ACTIONS).map(([action, { entity }]) => {
    const row = { action, entity_type: entity, entity_id: 'x', details: null, actor_id: 'y' } as ActivityRow
    return activitySentence(row, names)
  })
  const odd = sentences.filter((sentence) => /\bthe (issue|board)\b|(created|added|removed|linked)$/.test(sentence))
  assert.deepEqual(odd, [])
  assert.equal(
    activitySentence(
      {
        action: 'issue.attachment_added',
        entity_type: 'issue',
        entity_id: 'x',
        details: '{"fileName":"a.png"}',
      } as ActivityRow,
      names,
    ),
    'attached the file a.png to ACM-1',
  )
})

test('a history is cut at its limit and reports that entries are missing', async (t) => {
  const { app, path } = await withTeam(t)
  await app.make('POST', path, { title: 'Draw' })
  for (let i = 0; i < 10; i++) await app.make('POST', '/api/issues/ACM-1/comments', { body: `No. ${i}` })
  const why = await app.make('GET', '/api/issues/ACM-1/why?limit=3')
  assert.deepEqual(
    storyOf(why.steps),
    [7, 8, 9].map((i) => `the board said on ACM-1 “No. ${i}”`),
  )
  assert.equal(why.isCut, true)
})

test('another company cannot read the history', async (t) => {
  const { app, path } = await withTeam(t)
  await app.make('POST', path, { title: 'Draw' })
  const other = await app.make('POST', '/api/companies', { name: 'Other' })
  const stranger = insertAgent(app, { company_id: other.id })
  assert.equal((await stranger.request('GET', '/api/issues/ACM-1/why')).status, 404)
})

test('every query of the history uses an index', async (t) => {
  const { app, path, ada } = await withTeam(t)
  const issue = await app.make('POST', path, { title: 'Draw', assigneeAgentId: ada.id })
  await runOf(app, ada, 1)
  const plans: string[] = []
  const { all, first } = app.ctx.db
  const explain = <O>(query: Parameters<typeof all<O>>[0]) => {
    const compiled = 'compile' in query ? query.compile() : query
    const plan = all<{ detail: string }>({ ...compiled, sql: `explain query plan ${compiled.sql}` } as never)
    plans.push(...plan.map(({ detail }) => detail))
  }
  app.ctx.db.all = (query) => {
    explain(query)
    return all(query)
  }
  app.ctx.db.first = (query) => {
    explain(query)
    return first(query)
  }
  await app.make('GET', `/api/issues/${issue.id}/why`)
  const scans = plans.filter((plan) => /^SCAN (?!json_each|wanted)/.test(plan))
  assert.deepEqual(scans, [])
  assert.ok(plans.some((plan) => plan.includes('run_by_issue')) && plans.some((plan) => plan.includes('wake_by_issue')))
})

test('a run in a placement says where it is, and why it waits', async (t) => {
  const { app, ada } = await withTeam(t)
  const issue = insertIssue(app.ctx, { company_id: ada.company_id })
  const live = { issue_id: issue.id, placement: 'farm' }
  const waiting = '2 ahead of it in the queue of partition main'
  insertRunRow(app.ctx, ada, { ...live, status: 'starting', job_waiting: waiting })
  insertRunRow(app.ctx, ada, { ...live, slot: 1, job_node: 'n1' })
  const { steps } = (await app.request('GET', `/api/issues/${issue.id}/why`)).body
  const texts = storyOf(steps).map((text) => text.replace(/ on ACM-\d+/, ''))
  assert.match(texts[0]!, /Ada is to run .*, and waits in the placement farm: 2 ahead of it in the queue/)
  assert.match(texts[1]!, /Ada ran .*, and still does in the placement farm on n1/)
})
