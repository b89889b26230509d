import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createTestRuns, type TestRuns } from '../../runs.ts'

const THREAD = '0199a213-81c0-7800-8aa1-bbab2a035a53'

/** Creates an agent with a program that reports its usage only in its session file: one cent per call. */
async function spenderOf(t: TestContext, options: { calls?: number; budget?: number; config?: object } = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'service-home-'))
  t.after(() => rmSync(home, { recursive: true }))
  const runs = await createTestRuns(t, { environment: { PATH: process.env.PATH ?? '', HOME: home } })
  const agent = await runs.agentThat('spends-tokens.js', {
    speaks: 'runtimeB_local',
    args: ['150', String(options.calls ?? 0)],
    config: options.config ?? {},
    ...(options.budget !== undefined && { budget: options.budget }),
  })
  const file = path.join(home, `.codex/sessions/2026/11/22/rollout-${THREAD}.jsonl`)
  /** Returns the cost that the program recorded for the whole thread, in cents. */
  const ledger = () => {
    const lines = readFileSync(file, 'utf8').split('\n')
    const totals = lines.filter((line) => line.includes('token_count')).map((line) => JSON.parse(line).payload.info)
    return totals.at(-1).total_token_usage.output_tokens / 1000
  }
  return { runs, agent, file, ledger }
}

/** Wakes an agent and waits until its run has spent something. */
async function untilSpending(runs: TestRuns, agent: string) {
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.tick()
  for (;;) {
    const run = (await runs.runs()).at(-1)
    if (run?.costCents > 0) return run
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('a program that reports usage only in its session file is stopped at its budget, at most one call late', async (t) => {
  const { runs, agent, ledger } = await spenderOf(t, { budget: 5 })
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  assert.deepEqual([run.status, run.stopReason, run.costStatus], ['cancelled', 'budget', 'estimated'])
  assert.equal(run.costCents, ledger())
  assert.ok(run.costCents <= 7, `${run.costCents} cents`)
})

test('a cancelled run records its cost, and the next run of its thread records only its own cost', async (t) => {
  const { runs, agent, ledger } = await spenderOf(t)
  const first = await untilSpending(runs, agent)
  await runs.make('POST', `/api/runs/${first.id}/cancel`)
  await runs.runUntilIdle()
  assert.equal((await runs.runs())[0].costCents, ledger())
  const second = await untilSpending(runs, agent)
  assert.equal(second.sessionIdBefore, THREAD)
  await runs.make('POST', `/api/runs/${second.id}/cancel`)
  await runs.runUntilIdle()
  const costs = (await runs.runs()).map((run) => run.costCents)
  assert.equal(costs[0] + costs[1], ledger())
})

test('a timed-out run records its cost', async (t) => {
  const { runs, agent, ledger } = await spenderOf(t, { config: { timeoutSec: 5 } })
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  assert.equal(run.status, 'timed_out')
  assert.equal(run.costCents, ledger())
})

test('a run that loses its supervisor records the cost of its program until the end', async (t) => {
  const { runs, agent, ledger } = await spenderOf(t, { config: { model: 'gpt-5' } })
  const { processPid } = await untilSpending(runs, agent)
  process.kill(processPid, 'SIGSTOP') // the shim reads no more output, but its program continues
  const before = ledger()
  while (ledger() < before + 3) await new Promise((resolve) => setTimeout(resolve, 50))
  process.kill(processPid, 'SIGKILL')
  const [lost] = await new Promise<Awaited<ReturnType<typeof runs.runs>>>((resolve) => {
    const end = runs.ctx.events.subscribe(({ type }) => {
      if (type !== 'run.finished') return
      end()
      resolve(runs.runs())
    })
  })
  assert.equal(lost.status, 'lost')
  assert.equal(lost.costCents, ledger())
})

test('a run that replaced its session file by a pipe cannot make the server wait', async (t) => {
  const { runs, agent, file } = await spenderOf(t)
  const { processPid } = await untilSpending(runs, agent)
  process.kill(processPid, 'SIGSTOP')
  execFileSync('mkfifo', [`${file}.pipe`])
  renameSync(`${file}.pipe`, file)
  const ended = new Promise((resolve) =>
    runs.ctx.events.subscribe(({ type }) => type === 'run.finished' && resolve(type)),
  )
  process.kill(processPid, 'SIGKILL')
  await ended
  assert.equal((await runs.runs())[0].status, 'lost')
})

test('a successful run has the same cost, in whatever order the output and the session file report it', async (t) => {
  const { runs, agent, ledger } = await spenderOf(t, { calls: 2 })
  for (const expected of [2, 4]) {
    await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
    await runs.runUntilIdle()
    assert.equal(ledger(), expected)
  }
  assert.deepEqual(
    (await runs.runs()).map((run) => [run.status, run.costCents, run.usage.outputTokens]),
    [
      ['succeeded', 2, 2000],
      ['succeeded', 2, 2000],
    ],
  )
})
