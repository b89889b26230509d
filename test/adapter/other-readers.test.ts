import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SessionState } from '../../src/adapter/adapter.ts'
import { mergeFacts, replay, use } from './replay.ts'

const session: SessionState = { id: 'session-1', totals: {} }
const SONNET = 'claude-sonnet-4-5'

const cases: [
  title: string,
  stream: string,
  run: { session?: SessionState; model?: string },
  expected: Record<string, unknown>,
][] = [
  [
    'gemini reports its session, final text and tokens, with thoughts as output',
    'gemini-success',
    {},
    {
      session: '11111111-1111-4111-8111-111111111111',
      text: 'It is done.',
      outcome: 'ok',
      usage: { 'gemini-2.5-pro': { ...use(1_200, 300, 60, 0.002138), costStatus: 'estimated' } },
    },
  ],
  ['a session unknown to gemini is dead', 'gemini-dead-session', { session }, { dead: true }],
  ['a new run of gemini never reports a dead session', 'gemini-dead-session', {}, { dead: false }],
  [
    'an error of gemini contains the message of the provider; a model without a price is unpriced',
    'gemini-refused',
    {},
    {
      outcome: 'error',
      message: 'API key not valid. (HTTP 401)',
      usage: { 'gemini-9': { ...use(700, 300, 60, null), costStatus: 'unpriced' } },
    },
  ],
  ['a session of gemini that exceeds the context is dead', 'gemini-overflow', { session }, { dead: true }],
  ['a quota error of gemini is a rate limit', 'gemini-quota', {}, { outcome: 'rate_limited', limited: null }],
  [
    'opencode reports its session, final text, tokens and cost, step by step',
    'opencode-success',
    { model: `anthropic/${SONNET}` },
    {
      session: 'ses_dfde59559ffeoxf01TibaYiT6B',
      text: 'It is done.',
      outcome: 'ok',
      usage: { [SONNET]: { ...use(2_400, 600, 80, 0.00858), costStatus: 'reported' } },
    },
  ],
  ['a session unknown to opencode is dead', 'opencode-dead-session', { session }, { dead: true }],
  ['a 429 of opencode is a rate limit', 'opencode-429', {}, { outcome: 'rate_limited', limited: null }],
]

describe('the output of gemini and opencode', () => {
  for (const [title, stream, run, expected] of cases) {
    test(title, () => {
      const found: Record<string, unknown> = mergeFacts(replay(stream, run).facts)
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(found[key], value, key)
    })
  }
})
