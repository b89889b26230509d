import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Fact } from '../../../src/adapter/adapter.ts'
import { MAX_MODELS } from '../../../src/adapter/fact.ts'
import { createFactRecorder, NO_FACTS } from '../../../src/runtime/executor/facts.ts'
import { finishRun } from '../../../src/runtime/executor/finish.ts'
import { parseQueue, whyQueued } from '../../../src/runtime/placement/slurm.ts'
import { followRun } from '../../../src/runtime/process/follow.ts'
import { readExit, runFolder, writeStop } from '../../../src/runtime/process/run-files.ts'
import { insertAgent, insertCompany, insertRun } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

const CLOCK = '2026-11-21T09:00:00.000Z'
const base64 = (text: string) => Buffer.from(text).toString('base64')

async function arrange(t: TestContext) {
  const app = createTestApp(t)
  await app.make('POST', '/api/placements', { name: 'farm', type: 'ssh', settings: { host: 'farm' } })
  const agent = insertAgent(app, {
    company_id: insertCompany(app.ctx),
    adapter_config: JSON.stringify({ command: 'make', args: ['all'] }),
    runtime_config: JSON.stringify({ placement: 'farm' }),
  })
  const run = await insertRun(app, agent, { placement: 'farm', status: 'starting', started_at: null })
  const runDir = runFolder(app.config, run.id)
  mkdirSync(runDir, { recursive: true })
  const instance = randomUUID()
  const claim = (by = instance) =>
    run.request('POST', `/api/runs/${run.id}/bundle`, { instance: by, node: 'node-7', clock: CLOCK })
  const report = (parts: object[], more: object = {}) =>
    run.request('POST', `/api/runs/${run.id}/report`, { instance, clock: CLOCK, parts, exit: null, ...more })
  return { ...app, agent, run, runDir, claim, report }
}

test('one process can claim a run and gets all its start data; a second claim is refused', async (t) => {
  const { request, run, claim } = await arrange(t)
  const { status, body } = await claim()
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.spec.command, body.spec.args], ['make', ['all']])
  assert.equal(body.spec.env.PATH, undefined, "the machine's own variables are used")
  assert.ok(body.files.some((file: { path: string }) => file.path.startsWith('skills/')))
  assert.equal((await claim()).status, 200, 'a response can be lost')
  assert.equal((await claim(randomUUID())).status, 409)
  const displayed = (await request('GET', `/api/runs/${run.id}`)).body
  assert.deepEqual([displayed.status, displayed.node, displayed.placement], ['running', 'node-7', 'farm'])
})

test('a repeated part is recorded once, and a missing part is requested', async (t) => {
  const { report, claim, runDir } = await arrange(t)
  const part = (offset: number, text: string, name = 'facts.jsonl') => ({ name, offset, data: base64(text) })
  assert.equal((await report([])).status, 409, 'only the process that claimed it')
  await claim()
  const sizes = async (...parts: object[]) => (await report(parts)).body.sizes
  assert.deepEqual(await sizes(part(0, 'one\n')), { 'facts.jsonl': 4 })
  assert.deepEqual(await sizes(part(0, 'one\n')), { 'facts.jsonl': 4 }, 'sent again')
  assert.deepEqual(await sizes(part(9, 'late')), { 'facts.jsonl': 4 }, 'a gap')
  assert.deepEqual(await sizes(part(2, 'e\ntwo\n')), { 'facts.jsonl': 8 }, 'the rest of a part that overlaps')
  assert.equal(readFileSync(path.join(runDir, 'facts.jsonl'), 'utf8'), 'one\ntwo\n')
  for (const start of [10, 20, 30, 40, 50, 60]) await sizes(part(0, 'x', `log/tail-${start}`))
  assert.deepEqual(readdirSync(path.join(runDir, 'log')).sort(), ['tail-30', 'tail-40', 'tail-50', 'tail-60'])
  for (const name of ['../facts.jsonl', 'log/../../x', 'exit.json', 'log/tail-1.5']) {
    assert.equal((await report([part(0, 'x', name)])).status, 400, name)
  }
})

test('a response contains the stop request, and the exit has the timestamps of the server', async (t) => {
  const { report, claim, runDir } = await arrange(t)
  await claim()
  assert.equal((await report([])).body.stop, null)
  writeStop(runDir, { graceSec: 3 })
  assert.deepEqual((await report([])).body.stop, { graceSec: 3 })
  const late = '2026-11-21T19:00:00.000Z'
  const exit = { exitCode: 0, signal: null, reason: 'exited', startedAt: late, finishedAt: late, strays: 0, left: 0 }
  await report([], { clock: late, exit: { ...exit, bytes: { stdout: 1, stderr: 0 } } })
  assert.equal(readExit(runDir)?.finishedAt, CLOCK, 'its clock is ten hours ahead')
})

test('only the run itself can claim and report: its agent with a key and other runs are refused', async (t) => {
  const app = await arrange(t)
  const { agent, run, request } = app
  const other = insertAgent(app, { company_id: agent.company_id })
  const otherRun = await insertRun(app, other, {})
  const body = { instance: randomUUID(), node: 'n', clock: CLOCK }
  for (const by of [agent.request, otherRun.request, request]) {
    assert.equal((await by('POST', `/api/runs/${run.id}/bundle`, body)).status, 403)
  }
})

test('the queue position in a partition counts the jobs before the run', () => {
  const rows = parseQueue(
    '7|PENDING|Priority|main|10|\n8|PENDING|Resources|main|20|\n9|PENDING|Priority|other|90|\n6|RUNNING|None|main|99|n1\n',
  )
  assert.equal(whyQueued(rows[0]!, rows), '1 ahead of it in the queue of partition main')
  assert.equal(whyQueued(rows[1]!, rows), '0 ahead of it in the queue of partition main: no node is free')
})

test('facts that a machine reports cannot lower the spend, begin a session with an option, or add models without end', async (t) => {
  const { ctx, request, agent, run, runDir, claim, report } = await arrange(t)
  await claim()
  const recorder = createFactRecorder(ctx, run.id, (change) => ctx.write(change))
  const machine = { isGone: () => false, untilExited: async () => {}, endLostRun: async () => assert.fail() }
  const received: Fact[] = []
  const usage = { kind: 'usage', provider: 'p', inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0.01 }
  const reported = [
    { ...usage, model: 'cheap', costUsd: -1_000, inputTokens: -5, costStatus: 'estimated' },
    { ...usage, model: 'odd', costStatus: 'free' },
    { ...usage, model: { a: 1 }, costStatus: 'reported' },
    ...[null, 7, [], 'text', { kind: 'unknown' }, { kind: 'session', id: '--option' }, { kind: 'text', text: 9 }],
    ...Array.from({ length: MAX_MODELS + 50 }, (_, n) => ({ ...usage, model: `model ${n}`, costStatus: 'reported' })),
    { kind: 'session', id: 'last' },
  ]
  // A line that is too long is skipped.
  const long = `${'x'.repeat(1_500_000)}\n`
  const lines = long + reported.map((fact) => `${JSON.stringify(fact)}\n`).join('')
  const { promise: isDone, resolve } = Promise.withResolvers<void>()
  const following = followRun(
    { runId: run.id, runDir, identity: null },
    {
      shimWatch: machine,
      async onFacts(facts) {
        received.push(...facts)
        await recorder.add(facts)
        if (facts.some((fact) => fact.kind === 'session' && fact.id === 'last')) resolve()
      },
    },
  )
  t.after(() => following.close())
  for (let offset = 0; offset < lines.length; offset += 1_000_000) {
    const data = base64(lines.slice(offset, offset + 1_000_000))
    assert.equal((await report([{ name: 'facts.jsonl', offset, data }])).status, 200)
  }
  await Promise.race([isDone, following.ended])
  assert.deepEqual(
    received.filter(({ kind }) => kind !== 'usage'),
    [
      { kind: 'text', text: '' },
      { kind: 'session', id: 'last' },
    ],
  )
  const events = (await request('GET', `/api/companies/${agent.company_id}/cost-events?limit=1000`)).body
  assert.equal(events.length, MAX_MODELS)
  assert.ok(
    events.every((event: { costCents: number; inputTokens: number }) => event.costCents >= 0 && event.inputTokens >= 0),
  )
})

test('usage that arrives after a run ended as lost is recorded once, and nothing else is possible', async (t) => {
  const { request, ctx, report, claim, run, runDir } = await arrange(t)
  await claim()
  const usage = (cents: number, model = 'm') =>
    `${JSON.stringify({ kind: 'usage', provider: 'p', model, inputTokens: 1, cachedInputTokens: 0, outputTokens: cents, costUsd: cents / 100, costStatus: 'reported' })}\n`
  const facts = (...texts: string[]) => ({ name: 'facts.jsonl', offset: 0, data: base64(texts.join('')) })
  const ending = { reason: 'lost', exitCode: null, signal: null, error: null, at: null } as const
  await ctx.write(() => finishRun(ctx, run.id, ending, NO_FACTS))
  const costOf = async () => (await request('GET', `/api/runs/${run.id}`)).body.costCents
  const late = [facts(usage(2), usage(3), usage(4, 'n'))]
  for (let times = 0; times < 2; times++) {
    const { status, body } = await report(late)
    assert.deepEqual([status, body.stop], [200, { graceSec: 0 }])
    assert.equal(await costOf(), 7)
  }
  const exit = { exitCode: 0, signal: null, reason: 'exited', startedAt: null, finishedAt: CLOCK, strays: 0, left: 0 }
  assert.equal((await report([], { exit: { ...exit, bytes: { stdout: 0, stderr: 0 } } })).status, 200)
  assert.equal((await request('GET', `/api/runs/${run.id}`)).body.status, 'lost')
  assert.equal(readExit(runDir), undefined)
  assert.equal((await claim()).status, 401)
  assert.equal((await run.request('GET', '/api/agents/me')).status, 401)
  assert.equal((await report(late, { instance: randomUUID() })).status, 409, 'only the process that claimed it')
})
