import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Fact } from '../../../src/adapter/adapter.ts'
import { deepCheck } from '../../../src/clients/database-check/database-check.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { recordFacts } from '../../../src/runtime/executor/facts.ts'
import { insertAgent, insertRun } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

const PAUSE_MS = '60'

const spender = (runs: TestRuns, args: string[], budget?: number) =>
  runs.agentThat('spends-cents.js', {
    speaks: 'runtimeA_local',
    args,
    config: { graceSec: 30 },
    ...(budget !== undefined && { budget }),
  })

const displayed = async ({ request }: TestRuns, agent: string) => (await request('GET', `/api/agents/${agent}`)).body

/** Returns the number of cents that a run reported. */
async function saidIn({ request }: TestRuns, runId: string): Promise<number> {
  const { text } = (await request('GET', `/api/runs/${runId}/log`)).body
  return text.split('\n').filter((line: string) => line.includes('"assistant"')).length
}

for (const [who, args] of [
  ['an agent', [PAUSE_MS]],
  ['an agent that ignores SIGTERM', [PAUSE_MS, 'deaf']],
] as const) {
  test(`${who} that streams cents against $1.00 overspends by at most one event, and all costs are recorded`, async (t) => {
    const runs = await createTestRuns(t)
    const agent = await spender(runs, [...args], 100)
    await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
    await runs.runUntilIdle()
    const [run] = await runs.runs()
    assert.deepEqual([run.status, run.stopReason], ['cancelled', 'budget'])
    const { status, pauseReason, spentMonthlyCents } = await displayed(runs, agent)
    assert.deepEqual([status, pauseReason], ['paused', 'budget'])
    assert.ok(spentMonthlyCents >= 100 && spentMonthlyCents <= 101, `${spentMonthlyCents} cents`)
    assert.equal(spentMonthlyCents, await saidIn(runs, run.id))
    assert.equal(run.costCents, spentMonthlyCents)
  })
}

test('a run that exceeds the budget of its company is stopped, and continues after the budget is raised', async (t) => {
  const runs = await createTestRuns(t)
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { budgetMonthlyCents: 5 })
  const agent = await spender(runs, [PAUSE_MS])
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  const company = (await runs.request('GET', `/api/companies/${runs.companyId}`)).body
  assert.deepEqual([company.status, company.pauseReason], ['paused', 'budget'])
  assert.ok(company.spentMonthlyCents <= 6, `${company.spentMonthlyCents} cents`)
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { budgetMonthlyCents: 10 })
  await runs.runUntilIdle()
  const [first, second] = await runs.runs()
  assert.deepEqual([second.retryOfRunId, second.stopReason], [first.id, 'budget'])
})

test('a run continues if its budget is raised while it spends', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await spender(runs, [PAUSE_MS], 20)
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const running = runs.next('run.running')
  await runs.tick()
  await running
  await runs.make('PATCH', `/api/agents/${agent}/budgets`, { budgetMonthlyCents: 30 })
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  assert.ok(run.costCents >= 30 && run.costCents <= 31, `${run.costCents} cents`)
})

test('a run that the budget stopped continues in the new month', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await spender(runs, [PAUSE_MS], 3)
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 1)
  runs.clock.set('2026-12-01T00:00:00.000Z')
  await runs.runUntilIdle()
  assert.equal((await runs.runs()).length, 2)
  assert.ok((await displayed(runs, agent)).spentMonthlyCents <= 4)
})

test('the recorded costs match the final report to the micro-dollar, for any order and repetition of cost events', async (t) => {
  const app = createTestApp(t)
  const { ctx } = app
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  const tokens = fc.nat(5_000_000)
  const usage = fc.record({
    model: fc.constantFrom('one', 'two', 'three'),
    provider: fc.constantFrom('a', 'b'),
    inputTokens: tokens,
    cachedInputTokens: tokens,
    outputTokens: tokens,
    costUsd: fc.option(fc.double({ min: 0, max: 1_000, noNaN: true }), { freq: 8 }),
  })
  const step = fc.record({
    run: fc.nat(2),
    facts: fc.array(usage, { maxLength: 4 }),
    again: fc.boolean(),
    ms: fc.nat(9e8),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const agent = insertAgent(app, { company_id: company.id })
      const runIds = await Promise.all([0, 1, 2].map(async (slot) => (await insertRun(app, agent, { slot })).id))
      const last = new Map<string, { costUsd: number | null; inputTokens: number; outputTokens: number }>()
      for (const { run, facts, again, ms } of steps) {
        const runId = runIds[run]!
        const received: Fact[] = facts.map((fact) => ({
          kind: 'usage',
          costStatus: fact.costUsd === null ? 'unpriced' : 'reported',
          ...fact,
        }))
        // A restarted server records all facts from the beginning.
        for (let i = again ? 2 : 1; i > 0; i--) await ctx.write(() => recordFacts(ctx, runId, received))
        for (const fact of facts) last.set(`${run} ${fact.provider} ${fact.model}`, fact)
        app.clock.move(ms)
      }
      const wanted = [...last.values()].reduce((sum, fact) => sum + Math.round((fact.costUsd ?? 0) * 1e6), 0)
      const events = ctx.db.all(sql.selectFrom('cost_event').selectAll().where('agent_id', '=', agent.id))
      assert.equal(
        events.reduce((sum, event) => sum + event.cost_micros, 0),
        wanted,
      )
      const inputs = [...last.values()].reduce((sum, fact) => sum + fact.inputTokens, 0)
      assert.equal(
        events.reduce((sum, event) => sum + event.input_tokens, 0),
        inputs,
      )
      const priceless = new Set([...last].filter(([, fact]) => fact.costUsd === null).map(([what]) => what))
      for (const { run_id, provider, model, cost_status } of events) {
        const what = `${runIds.indexOf(run_id!)} ${provider} ${model}`
        assert.equal(cost_status === 'unpriced', priceless.has(what), what)
      }
      for (const length of [7, 10]) {
        const totals = ctx.db
          .all(sql.selectFrom('cost_total').selectAll().where('kind', '=', 'agent').where('key', '=', agent.id))
          .filter((total) => total.period.length === length)
        const expected = new Map<string, number>()
        for (const { occurred_at, cost_micros } of events) {
          const period = occurred_at.slice(0, length)
          expected.set(period, (expected.get(period) ?? 0) + cost_micros)
        }
        assert.deepEqual(new Map(totals.map(({ period, cost_micros }) => [period, cost_micros])), expected)
      }
    }),
    { numRuns: 60 },
  )
  const all = ctx.db.first(sql.selectFrom('cost_event').select(({ fn }) => fn.sum<number>('cost_micros').as('sum')))
  const totals = ctx.db.all(
    sql
      .selectFrom('cost_total')
      .select(['kind', 'period', ({ fn }) => fn.sum<number>('cost_micros').as('sum')])
      .groupBy(['kind', 'period']),
  )
  for (const kind of ['company', 'agent', 'project', 'issue', 'model']) {
    for (const length of [7, 10]) {
      const sum = totals
        .filter((total) => total.kind === kind && total.period.length === length)
        .reduce((before, total) => before + total.sum, 0)
      assert.equal(sum, all?.sum, `${kind}, periods of ${length}`)
    }
  }
  assert.deepEqual((await deepCheck(ctx, { only: ['cost_totals'] })).findings, [])
})

test('a streamed cost without a price gets the price of the final report', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('says-usage.js', { speaks: 'runtimeA_local', budget: 100 })
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  assert.deepEqual([run.status, run.costStatus, run.costCents], ['succeeded', 'reported', 1])
  const costs = (await runs.request('GET', `/api/companies/${runs.companyId}/costs/summary`)).body
  assert.deepEqual([costs.costCents, costs.unpricedEventCount, costs.inputTokens], [1, 0, 20])
  assert.deepEqual(await unpricedWarnings(runs), [])
})

test('a budget that cannot be enforced, because costs are unknown, is reported once', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('replay.mjs', {
    speaks: 'runtimeB_local',
    args: [path.join(import.meta.dirname, '../../agents/streams/codex-success.jsonl')],
    budget: 100,
  })
  for (const title of ['One', 'Another']) {
    await runs.make('POST', `/api/companies/${runs.companyId}/issues`, { title, assigneeAgentId: agent })
    await runs.runUntilIdle()
  }
  assert.deepEqual(
    (await runs.runs()).map((run) => [run.status, run.costStatus]),
    [
      ['succeeded', 'unpriced'],
      ['succeeded', 'unpriced'],
    ],
  )
  assert.deepEqual(await unpricedWarnings(runs), [agent])
  await runs.make('PATCH', `/api/agents/${agent}/budgets`, { budgetMonthlyCents: 0 })
  runs.clock.set('2026-12-01T00:00:00.000Z')
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  assert.deepEqual(await unpricedWarnings(runs), [agent], 'without a budget there is nothing to warn of')
})

async function unpricedWarnings(runs: TestRuns): Promise<string[]> {
  const { body } = await runs.request('GET', `/api/companies/${runs.companyId}/activity?action=agent.costs_unpriced`)
  return body.map((row: { agentId: string }) => row.agentId)
}
