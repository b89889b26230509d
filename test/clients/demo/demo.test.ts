import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ISSUE_COUNT, TEAM } from '../../../src/clients/demo/company.ts'
import { runService } from '../cli/service.ts'

test('the demo company completes all issues in its time, and leaves no process', async (t) => {
  const { code, out, err } = await runService(t, ['demo', '--exit', '--json', '--port', '0'])
  assert.equal(code, 0, err + out)
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const summary = lines.at(-1)
  assert.deepEqual([summary.type, summary.done], ['summary', true])
  assert.deepEqual(summary.issues, { total: ISSUE_COUNT, done: ISSUE_COUNT })
  assert.equal(summary.runs.failed, 0)
  assert.ok(summary.costCents > 0)
  const costs = summary.agents.reduce((sum: number, agent: { costCents: number }) => sum + agent.costCents, 0)
  assert.equal(summary.costCents, Math.round(costs))
  const steps = lines.filter((line) => line.type === 'step')
  for (const kind of ['wakes', 'asks', 'approves', 'gives', 'takes', 'says', 'waits', 'hands in', 'finishes']) {
    assert.ok(
      steps.some((step) => step.kind === kind),
      `nobody ${kind}`,
    )
  }
  for (const { name } of TEAM) {
    assert.ok(
      steps.some((step) => step.who === name && step.kind === 'wakes'),
      `${name} never woke`,
    )
  }
  // The demo takes six seconds on an idle machine with two cores, and longer next to other tests.
  assert.ok(summary.elapsedMs < 30_000, `it took ${summary.elapsedMs} ms`)
})
