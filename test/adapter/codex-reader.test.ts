import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SessionState } from '../../src/adapter/adapter.ts'
import { mergeFacts, replay, use } from './replay.ts'

const THREAD = '0199a213-81c0-7800-8aa1-bbab2a035a53'
const resumed: SessionState = { id: THREAD, totals: {} }
const unpriced = (input: number, cached: number, output: number) => ({
  default: { ...use(input, cached, output, null), costStatus: 'unpriced' },
})

const cases: [title: string, stream: string, session: SessionState | null, expected: Record<string, unknown>][] = [
  [
    'a successful run reports its thread, final text and usage, with cached input separate',
    'codex-success',
    null,
    { session: THREAD, text: 'All done.', outcome: 'ok', dead: false, usage: unpriced(600, 400, 200) },
  ],
  ['command output does not change the thread state', 'codex-success', resumed, { dead: false, outcome: 'ok' }],
  ['an error item and a reconnection are not fatal', 'codex-not-fatal', null, { text: 'Got there.', outcome: 'ok' }],
  [
    'a failed turn is a failure',
    'codex-turn-failed',
    null,
    { outcome: 'turn_failed', message: 'stream disconnected before completion', usage: {}, limited: undefined },
  ],
  ['a missing thread is a dead session', 'codex-dead-thread', resumed, { dead: true, outcome: 'dead_session' }],
  ['a resumed thread longer than the context is a dead session', 'codex-overflow', resumed, { dead: true }],
  [
    'a new thread longer than the context is not resumed',
    'codex-overflow',
    null,
    { dead: true, outcome: 'context_overflow' },
  ],
  ['a 429 is a rate limit', 'codex-429', null, { outcome: 'rate_limited', limited: null }],
  ['a 429 that codex would wait for ends the run', 'codex-429-waits', null, { outcome: 'rate_limited', gaveUp: true }],
  [
    'a reconnection reports its number and cause',
    'codex-reconnects',
    null,
    { outcome: null, gaveUp: false, retrying: 'retrying 2 of 5: stream disconnected before completion' },
  ],
  ['a new run never reports a dead session', 'codex-dead-thread', null, { dead: false }],
  [
    'invalid usage values count as zero',
    'codex-odd-figures',
    null,
    { outcome: 'turn_failed', usage: unpriced(0, 400, 0) },
  ],
  [
    'a different thread than the resumed one counts from zero',
    'codex-other-thread',
    { id: THREAD, totals: { default: use(900, 100, 200, null) } },
    { session: '0199ffff-81c0-7800-8aa1-bbab2a035a53', usage: unpriced(5000, 0, 500) },
  ],
  [
    'usage below the stored totals is not cumulative',
    'codex-success',
    { id: THREAD, totals: { default: use(90_000, 400, 9000, null) } },
    { usage: unpriced(600, 400, 200) },
  ],
]

describe('the output of codex', () => {
  for (const [title, stream, session, expected] of cases) {
    test(title, () => {
      const found: Record<string, unknown> = mergeFacts(replay(stream, { session }).facts)
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(found[key], value, key)
    })
  }

  test('a usage limit includes its reset time, in the local time zone', () => {
    const { outcome, limited } = mergeFacts(replay('codex-usage-limit').facts)
    assert.equal(outcome, 'rate_limited')
    assert.equal(limited, new Date(2027, 0, 1, 0, 57).toISOString())
  })

  test('each of three runs of one thread reports its own usage, at the prices of the configured model', () => {
    let session: SessionState | null = null
    const expected = [use(600, 400, 200, 0.0028), use(300, 200, 60, 0.001), use(0, 1000, 40, 0.000525)]
    for (const [index, stream] of ['codex-success', 'codex-run-2', 'codex-run-3'].entries()) {
      const found = mergeFacts(replay(stream, { session, model: 'gpt-5' }).facts)
      assert.deepEqual(found.usage, { 'gpt-5': { ...expected[index], costStatus: 'estimated' } })
      session = { id: found.session!, totals: found.totals! }
    }
  })

  test('usage is still measured by thread when the model changes', () => {
    const session = { id: THREAD, totals: { 'gpt-5': use(600, 400, 200, null) } }
    const { usage, totals } = mergeFacts(replay('codex-run-2', { session, model: 'gpt-5.4' }).facts)
    assert.deepEqual(usage['gpt-5.4'], { ...use(300, 200, 60, 0.0017), costStatus: 'estimated' })
    assert.deepEqual(totals, { 'gpt-5.4': use(900, 600, 260, null) })
  })
})
