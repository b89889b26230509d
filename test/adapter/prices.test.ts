import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateCost } from '../../src/adapter/prices.ts'
import { fromEpochSeconds, resetTime } from '../../src/adapter/reset-time.ts'

const million = { inputTokens: 1e6, cachedInputTokens: 1e6, outputTokens: 1e6 }

test('the price of a model is found by its name, also with a date or variant suffix', () => {
  for (const model of [
    'claude-sonnet-4-5',
    'claude-sonnet-4-5-20250929',
    'Claude-Sonnet-4-5[1m]',
    'claude-sonnet-4-5@20250929',
  ]) {
    assert.equal(estimateCost(model, million), 18.3, model)
  }
  assert.equal(estimateCost('demo', million), 18.3)
  assert.equal(estimateCost('gpt-5-2025-08-07', million), 11.375)
})

test('a model that only shares a prefix with a known model has no price', () => {
  for (const model of ['gpt-5-pro', 'gpt-55', 'claude-sonnet-4-5-turbo', 'default', '', '__proto__', 'constructor']) {
    assert.equal(estimateCost(model, million), null, model)
  }
})

test('a cache write costs 25 % more', () => {
  const use = { inputTokens: 1e6, cachedInputTokens: 0, outputTokens: 0 }
  assert.equal(estimateCost('demo', use, 1e6), 3.75)
})

const NOW = Date.UTC(2026, 10, 21, 12, 0)
const moments: [text: string, expected: string | null][] = [
  ['Claude AI usage limit reached|1760000000', '2025-10-09T08:53:20.000Z'],
  ['try again in 2 days 3 hours 14 minutes.', '2026-11-23T15:14:00.000Z'],
  ['Resets 3pm (UTC)', '2026-11-21T15:00:00.000Z'],
  ['resets 3am (UTC)', '2026-11-22T03:00:00.000Z'],
  ['resets 3:30pm (Europe/Copenhagen)', '2026-11-21T14:30:00.000Z'],
  ['resets Feb 3 at 10am (America/Los_Angeles)', '2027-02-03T18:00:00.000Z'],
  ['resets 12am (UTC)', '2026-11-22T00:00:00.000Z'],
  ['try again at Aug 8th, 2026 12:30 PM.', new Date(2026, 7, 8, 12, 30).toISOString()],
  ['resets 3pm (Nowhere/Land)', null],
  ['try again later', null],
]

for (const [text, expected] of moments) {
  test(`the reset time in "${text}" is ${expected ?? 'undefined'}`, () => assert.equal(resetTime(text, NOW), expected))
}

test('accepts a reset time in epoch seconds only', () => {
  assert.equal(fromEpochSeconds(1760000000), '2025-10-09T08:53:20.000Z')
  for (const value of [null, '1760000000', -1, Number.NaN, 1e300]) assert.equal(fromEpochSeconds(value), null)
})
