import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { createTestRuns } from '../../runs.ts'

const runOf = async (t: Parameters<typeof createTestRuns>[0], program: string, args: string[]) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat(program, { speaks: 'runtimeA_local', args, config: { timeoutSec: 60 } })
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.tick()
  for (;;) {
    const [run] = await runs.runs()
    if (run?.finishedAt) return { runs, run, agent: (await runs.request('GET', `/api/agents/${agent}`)).body }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('a program that does not exit after its result is terminated, and its result is kept', async (t) => {
  const { runs, run } = await runOf(t, 'lingers.js', [])
  assert.deepEqual([run.status, run.error, run.costCents], ['succeeded', null, 1])
  const { text } = (await runs.request('GET', `/api/runs/${run.id}/log`)).body
  assert.ok(text.includes('"result"') && !text.includes('stream_event'), 'the parts of messages are not in the log')
})

test('a program with refused credentials is terminated immediately', async (t) => {
  const { run } = await runOf(t, 'lingers.js', ['give-up'])
  assert.deepEqual([run.status, run.errorCode], ['failed', 'unauthorized'])
  assert.match(run.error, /refuses the credentials: 401 authentication_error/)
})

test('the error of a failed run contains the last line of standard error', async (t) => {
  const { run } = await runOf(t, 'complains.js', ['2'])
  assert.equal(run.error, 'The program exited with code 2: Error: CODEX_HOME points to /nowhere')
})

test('a program that exits with 0 without its required result has failed', async (t) => {
  const { run } = await runOf(t, 'complains.js', ['0'])
  assert.deepEqual([run.status, run.errorCode], ['failed', 'no_result'])
})

test('a successful run without changes reports this, with the refused tool calls', async (t) => {
  const stream = path.join(import.meta.dirname, '../../agents/streams/claude-cost-basis-unknown.jsonl')
  const { run } = await runOf(t, 'replay.mjs', [stream])
  assert.deepEqual(
    [run.status, run.outcome, run.outcomeDetail, run.costStatus],
    ['succeeded', 'unchanged', 'changed nothing; 1 tool call was refused', 'unpriced'],
  )
})

test('a live run reports the current retry of its program', async (t) => {
  const runs = await createTestRuns(t)
  const agent = await runs.agentThat('lingers.js', { speaks: 'runtimeA_local', args: ['retry'] })
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.tick()
  for (;;) {
    const [run] = await runs.runs()
    assert.equal(run.finishedAt, null)
    if (run.retrying !== null) {
      assert.equal(run.retrying, 'retrying 4 of 10: 529 overloaded_error')
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})
