import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import type { SessionState } from '../../src/adapter/adapter.ts'
import { claudeReader } from '../../src/adapter/claude-reader.ts'
import { mergeFacts, replay, use } from './replay.ts'

const SESSION = '5f0c7b1e-3c1a-4a53-9d0e-0d6f1f2a3b4c'
const SONNET = 'claude-sonnet-4-5-20250929'
const resumed: SessionState = { id: SESSION, totals: {} }
const reported = (input: number, cached: number, output: number, cost: number) => ({
  ...use(input, cached, output, cost),
  costStatus: 'reported',
})
const small = { [SONNET]: reported(10, 0, 5, 0.0001) }

const cases: [title: string, stream: string, session: SessionState | null, expected: Record<string, unknown>][] = [
  [
    'a successful run reports its session, final text, usage and result',
    'claude-success',
    null,
    {
      session: SESSION,
      text: 'Done.',
      outcome: 'ok',
      dead: false,
      usage: { [SONNET]: reported(310, 300, 90, 0.00252) },
    },
  ],
  ['the order of JSON keys does not matter', 'claude-key-order', null, { text: 'Hello.', outcome: 'ok', usage: small }],
  ['an API retry is not a failure', 'claude-api-retry', null, { outcome: 'ok', limited: undefined, usage: small }],
  [
    'reaching the turn limit is a failure, and the tokens count',
    'claude-max-turns',
    null,
    { outcome: 'error_max_turns', message: 'The run reached its limit of turns (maxTurns).', usage: small },
  ],
  [
    'reaching the budget is a failure with the reported errors as the message',
    'claude-max-budget',
    null,
    { outcome: 'error_max_budget_usd', message: 'Reached the budget of $0.0001', usage: small },
  ],
  ['a missing session is dead', 'claude-dead-session', resumed, { dead: true, session: null, outcome: 'dead_session' }],
  [
    'a dead session is detected from standard error alone',
    'claude-dead-session-stderr',
    resumed,
    { dead: true, outcome: 'dead_session' },
  ],
  [
    'a new run never reports a dead session',
    'claude-dead-session',
    null,
    { dead: false, outcome: 'error_during_execution' },
  ],
  ['tool output does not change the session state', 'claude-success', resumed, { dead: false, outcome: 'ok' }],
  [
    'an error without usage keeps the estimate',
    'claude-execution-error',
    resumed,
    {
      dead: false,
      outcome: 'error_during_execution',
      usage: { [SONNET]: { ...use(100, 0, 50, 0.00105), costStatus: 'estimated' } },
    },
  ],
  [
    'success with is_error is a failure, and synthetic messages cost nothing',
    'claude-api-error',
    null,
    { outcome: 'error', message: 'Invalid API key · Please run /login', usage: {}, totals: null },
  ],
  [
    'a usage limit with an epoch includes its reset time',
    'claude-limit-epoch',
    null,
    { outcome: 'rate_limited', limited: '2025-10-09T08:53:20.000Z' },
  ],
  [
    'the reset time of a rate limit event takes precedence over the text',
    'claude-limit-event',
    null,
    { outcome: 'rate_limited', limited: new Date(1778565600e3).toISOString() },
  ],
  ['a 429 without a reset time is a rate limit', 'claude-limit-429', null, { outcome: 'rate_limited', limited: null }],
  [
    'a limit event that does not stop the run is not a rate limit',
    'claude-limit-allowed',
    null,
    { outcome: 'ok', limited: undefined },
  ],
  [
    'ignores non-JSON, incomplete and unknown lines',
    'claude-noise',
    null,
    { session: SESSION, outcome: 'ok', usage: small },
  ],
  [
    'a killed run has estimated usage',
    'claude-killed',
    null,
    {
      outcome: null,
      usage: { [SONNET]: { ...use(1000, 1000, 200, 0.0063), costStatus: 'estimated' } },
      totals: { [SONNET]: use(1000, 1000, 200, 0.0063) },
    },
  ],
  [
    'a model without a price is unpriced, not free',
    'claude-unknown-model',
    null,
    { usage: { 'llama-9': { ...use(100, 0, 10, null), costStatus: 'unpriced' } } },
  ],
  [
    'partial messages include the actual output tokens, also those of a sub-agent',
    'claude-partial-killed',
    null,
    {
      outcome: null,
      usage: { [SONNET]: { ...use(4000, 0, 551, 0.020265), costStatus: 'estimated' } },
      // The last message is incomplete: the program does not count it in its session.
      totals: { [SONNET]: use(3000, 0, 550, 0.01725) },
    },
  ],
  [
    'a cost without a known price is unpriced; refused tool calls are counted',
    'claude-cost-basis-unknown',
    null,
    { outcome: 'ok', refused: 1, usage: { 'llama-9': { ...use(10, 0, 5, null), costStatus: 'unpriced' } } },
  ],
  [
    'invalid credentials end the run immediately',
    'claude-unauthorized',
    null,
    {
      outcome: 'unauthorized',
      gaveUp: true,
      message:
        'The provider refuses the credentials: 401 authentication_failed. Check the key or the login of the program.',
    },
  ],
  [
    'a retry reports its number and cause',
    'claude-overloaded',
    null,
    { outcome: null, gaveUp: false, retrying: 'retrying 4 of 10: 529 overloaded' },
  ],
  [
    'a successful retry clears the retry state',
    'claude-api-retry',
    null,
    { outcome: 'ok', gaveUp: false, retrying: null },
  ],
  [
    'a rate limit longer than a minute ends the run',
    'claude-limit-long-wait',
    null,
    { outcome: 'rate_limited', gaveUp: true },
  ],
  ['a resumed session longer than the context is dead', 'claude-prompt-too-long', resumed, { dead: true }],
  [
    'a new session longer than the context is not resumed',
    'claude-prompt-too-long',
    null,
    { dead: true, outcome: 'context_overflow' },
  ],
  [
    'an estimate under another model name is replaced',
    'claude-other-name',
    null,
    {
      usage: { [SONNET]: reported(0, 0, 0, 0), [`${SONNET}[1m]`]: reported(100, 0, 10, 0.0009) },
      totals: { [`${SONNET}[1m]`]: use(100, 0, 10, 0.0009) },
    },
  ],
  [
    'without modelUsage all usage belongs to the main model',
    'claude-no-model-usage',
    null,
    { usage: { [SONNET]: reported(100, 0, 10, 0.0005) } },
  ],
  [
    'the embedded runtime has rounded prices',
    'claude-demo',
    null,
    { usage: { demo: { ...use(1000, 1000, 1000, 0.0183), costStatus: 'estimated' } } },
  ],
  ['refuses a session id that looks like a command-line option', 'claude-bad-session-id', null, { session: null }],
]

describe('the output of claude', () => {
  for (const [title, stream, session, expected] of cases) {
    test(title, () => {
      const found: Record<string, unknown> = mergeFacts(replay(stream, { session }).facts)
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(found[key], value, key)
    })
  }

  test('repeated lines of one message count once, with the last usage, during the run', () => {
    const { facts } = replay('claude-success')
    const inputs = facts.flatMap((fact) =>
      fact.kind === 'usage' ? [[fact.inputTokens, fact.outputTokens, fact.costStatus]] : [],
    )
    assert.deepEqual(inputs, [
      [300, 5, 'estimated'],
      [300, 50, 'estimated'],
      [310, 70, 'estimated'],
      [310, 90, 'estimated'],
      [310, 90, 'reported'],
    ])
  })

  test('invalid usage values count as zero, and a model may have any name', () => {
    const { usage } = mergeFacts(replay('claude-odd-figures').facts)
    assert.deepEqual(Object.keys(usage).sort(), ['__proto__', SONNET, 'constructor'])
    assert.deepEqual(usage[SONNET], { ...use(7, 0, 0, 0.000021), costStatus: 'estimated' })
    assert.deepEqual(Object.entries(usage).find(([model]) => model === 'constructor')?.[1], {
      ...use(1, 0, 0, null),
      costStatus: 'unpriced',
    })
  })

  for (const version of ['cumulative', 'per-run']) {
    test(`each of three runs of one session has its own cost (${version} usage)`, () => {
      let session: SessionState | null = null
      for (const run of [1, 2, 3]) {
        const found = mergeFacts(replay(`claude-${version}-${run}`, { session }).facts)
        assert.deepEqual(found.usage, { [SONNET]: reported(1000, 0, 100, 0.01) }, `run ${run}`)
        assert.deepEqual(found.totals, { [SONNET]: use(1000 * run, 0, 100 * run, 0.01 * run) })
        session = { id: found.session!, totals: found.totals! }
      }
    })
  }

  test('sub-agent tokens do not make per-run usage look cumulative', () => {
    const session = { id: SESSION, totals: { [SONNET]: use(9000, 0, 900, 0.09) } }
    const { usage } = mergeFacts(replay('claude-per-run-subagent', { session }).facts)
    assert.deepEqual(usage[SONNET], reported(1000, 0, 100, 0.01))
    assert.equal(usage['claude-haiku-4-5-20251001']!.costUsd, 0.0003)
  })

  test('a run after a killed run is charged only its own usage', () => {
    const session = { id: SESSION, totals: { [SONNET]: use(1000, 0, 60, 0.0039) } } // the estimate that the killed run left
    const { usage } = mergeFacts(replay('claude-cumulative-2', { session }).facts)
    assert.deepEqual(usage[SONNET], reported(1000, 0, 140, 0.0161))
  })

  test('with an unknown previous session cost, the run is charged by its share of the tokens', () => {
    const session = { id: SESSION, totals: { [SONNET]: use(1000, 0, 100, null) } }
    const { usage } = mergeFacts(replay('claude-cumulative-2', { session }).facts)
    assert.deepEqual(usage[SONNET], reported(1000, 0, 100, 0.01))
  })

  test('reading the output again returns the same result', () => {
    const [once, again] = [replay('claude-success'), replay('claude-success')]
    assert.deepEqual(mergeFacts([...once.facts, ...again.facts]), mergeFacts(once.facts))
  })

  test('sub-agent usage is read from its own file once, and excludes earlier runs', async (t) => {
    const home = mkdtempSync(path.join(tmpdir(), 'service-home-'))
    t.after(() => rmSync(home, { recursive: true }))
    const folder = path.join(home, '.claude/projects/-work', SESSION, 'subagents')
    mkdirSync(folder, { recursive: true })
    const message = (id: string, output_tokens: number) => {
      const usage = { input_tokens: 100, output_tokens }
      return `${JSON.stringify({ type: 'assistant', session_id: SESSION, message: { id, model: SONNET, content: [], usage } })}\n`
    }
    writeFileSync(path.join(folder, 'agent-1.jsonl'), message('msg_1', 70_000))
    const reader = claudeReader({}, { session: resumed, newSessionId: 'x', env: { HOME: home } })
    const facts = [...reader.line(message('msg_2', 1))]
    writeFileSync(path.join(folder, 'agent-2.jsonl'), message('msg_2', 40) + message('msg_3', 60))
    facts.push(...reader.poll!(), ...reader.poll!(), ...reader.line(message('msg_2', 1)))
    assert.deepEqual(mergeFacts(facts).usage, { [SONNET]: { ...use(200, 0, 100, 0.0021), costStatus: 'estimated' } })
  })

  test('the last read finds the sub-agents of a run that was stopped soon after they began', (t) => {
    const home = mkdtempSync(path.join(tmpdir(), 'service-home-'))
    t.after(() => rmSync(home, { recursive: true }))
    const reader = claudeReader({}, { session: null, newSessionId: SESSION, env: { HOME: home } })
    assert.deepEqual(reader.poll!(), [])
    const folder = path.join(home, '.claude/projects/-work', SESSION, 'subagents')
    mkdirSync(folder, { recursive: true })
    const message = { id: 'msg_1', model: SONNET, content: [], usage: { input_tokens: 100, output_tokens: 40 } }
    writeFileSync(
      path.join(folder, 'agent-1.jsonl'),
      `${JSON.stringify({ type: 'assistant', session_id: SESSION, message })}\n`,
    )
    assert.deepEqual(mergeFacts(reader.poll!(true)).usage, {
      [SONNET]: { ...use(100, 0, 40, 0.0009), costStatus: 'estimated' },
    })
  })

  test('a one-hour cache write costs twice the input price, a five-minute cache write 25 % more', () => {
    const reader = claudeReader({}, { session: null, newSessionId: 'x' })
    const usage = {
      cache_creation_input_tokens: 2_000,
      cache_creation: { ephemeral_1h_input_tokens: 1_000, ephemeral_5m_input_tokens: 1_000 },
    }
    const facts = reader.line(JSON.stringify({ type: 'assistant', message: { id: 'm', model: SONNET, usage } }))
    assert.deepEqual(mergeFacts(facts).usage, { [SONNET]: { ...use(2_000, 0, 0, 0.00975), costStatus: 'estimated' } })
  })

  test('a very long line is truncated to a summary, never inside a character', () => {
    const reader = claudeReader({}, { session: null, newSessionId: 'x' })
    const text = `${'a'.repeat(1999)}${'😀'.repeat(1_000_000)}`
    const [fact] = reader.line(JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] } }))
    assert.deepEqual(fact, { kind: 'text', text: 'a'.repeat(1999) })
    assert.deepEqual(reader.line(`{"type":"result","result":"${'x'.repeat(17_000_000)}"}`), [])
  })
})
