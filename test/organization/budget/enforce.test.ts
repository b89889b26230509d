import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordCost } from '../../../src/organization/budget/record-cost.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'

const spend = (runs: TestRuns, agentId: string, cents: number) =>
  runs.ctx.write(() =>
    recordCost(
      runs.ctx,
      { companyId: runs.companyId, agentId, issueId: null, projectId: null, goalId: null, runId: null },
      {
        provider: 'test',
        model: 'm',
        inputTokens: 1,
        cachedInputTokens: 0,
        outputTokens: 1,
        costMicros: cents * 10_000,
        costStatus: 'reported',
      },
    ),
  )

test('an agent with an exceeded budget is paused, keeps its wake, and resumes after an increase', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js', { budget: 100 })
  await spend(runs, agent, 100)
  const paused = (await runs.request('GET', `/api/agents/${agent}`)).body
  assert.equal(paused.status, 'paused')
  assert.equal(paused.pauseReason, 'budget')
  assert.equal(paused.spentMonthlyCents, 100)
  assert.equal((await runs.request('POST', `/api/agents/${agent}/heartbeat/invoke`)).status, 422)
  await runs.make('PATCH', `/api/agents/${agent}/budgets`, { budgetMonthlyCents: 200 })
  assert.equal((await runs.request('GET', `/api/agents/${agent}`)).body.status, 'idle')
})

test('the activity records once that 80 % of a budget is spent', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js', { budget: 100 })
  for (const cents of [79, 1, 1, 1]) await spend(runs, agent, cents)
  const warnings = await runs.request('GET', `/api/companies/${runs.companyId}/activity?action=agent.budget_warning`)
  assert.equal(warnings.body.length, 1)
  assert.equal((await runs.request('GET', `/api/agents/${agent}`)).body.budgetStatus, 'warning')
})

test('an agent paused for its budget resumes in the next month', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js', { budget: 100 })
  await spend(runs, agent, 150)
  runs.clock.set('2026-11-30T23:59:59.999Z')
  await runs.runUntilIdle()
  assert.equal((await runs.request('GET', `/api/agents/${agent}`)).body.status, 'paused')
  runs.clock.set('2026-12-01T00:00:00.000Z')
  await runs.runUntilIdle()
  const resumed = (await runs.request('GET', `/api/agents/${agent}`)).body
  assert.equal(resumed.status, 'idle')
  assert.equal(resumed.spentMonthlyCents, 0)
})

test('a company with an exceeded budget starts no run', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('succeed.js')
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { budgetMonthlyCents: 50 })
  await spend(runs, agent, 50)
  const company = (await runs.request('GET', `/api/companies/${runs.companyId}`)).body
  assert.equal(company.status, 'paused')
  assert.equal(company.pauseReason, 'budget')
  await runs.request('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  assert.deepEqual(await runs.runs(), [])
})
