import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Fact, UsageTotals } from '../../src/adapter/adapter.ts'
import { readerOf } from '../../src/adapter/readers.ts'
import { ADAPTER_TYPES } from '../../src/adapter/types.ts'

const TYPES = [
  'system',
  'assistant',
  'result',
  'rate_limit_event',
  'thread.started',
  'item.completed',
  'turn.completed',
  'turn.failed',
  'init',
  'message',
  'text',
  'step_finish',
  'error',
]
const figure = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.string(),
  fc.constantFrom(-1, '12', null, 1e308, 9e15),
  fc.jsonValue(),
)
const usage = fc.dictionary(
  fc.constantFrom(
    'input_tokens',
    'cached_input_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'output_tokens',
  ),
  figure,
)
const modelUsage = fc.dictionary(
  fc.oneof(fc.constantFrom('demo', '__proto__', 'constructor', 'gpt-5'), fc.string()),
  fc.oneof(
    fc.dictionary(fc.constantFrom('inputTokens', 'outputTokens', 'cacheReadInputTokens', 'costUSD'), figure),
    fc.jsonValue(),
  ),
)
const shaped = fc.record(
  {
    type: fc.constantFrom(...TYPES),
    subtype: fc.oneof(fc.constantFrom('init', 'success', 'error_max_turns'), fc.jsonValue()),
    is_error: fc.oneof(fc.boolean(), fc.jsonValue()),
    session_id: fc.jsonValue(),
    thread_id: fc.oneof(fc.uuid(), fc.jsonValue()),
    result: fc.oneof(fc.string(), fc.jsonValue()),
    errors: fc.oneof(fc.array(fc.oneof(fc.string(), fc.jsonValue())), fc.jsonValue()),
    total_cost_usd: figure,
    usage: fc.oneof(usage, fc.jsonValue()),
    modelUsage: fc.oneof(modelUsage, fc.jsonValue()),
    message: fc.oneof(
      fc.record({
        id: fc.constantFrom('a', 'b'),
        model: fc.constantFrom('demo', 'x', '__proto__'),
        usage,
        content: fc.jsonValue(),
      }),
      fc.jsonValue(),
    ),
    item: fc.jsonValue(),
    error: fc.jsonValue(),
    rate_limit_info: fc.record({ status: fc.constant('rejected'), resetsAt: figure }),
  },
  { requiredKeys: ['type'] },
)
const line = fc.oneof(
  shaped.map((value) => JSON.stringify(value)),
  shaped.map((value) => JSON.stringify(value).slice(0, 40)),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string(),
  fc.constantFrom('usage limit reached|9999999999999', 'try again at Feb 99th, 9999 99:99 PM', 'resets 3pm (No/Where)'),
)
const totals = fc.dictionary(fc.constantFrom('demo', 'x', '__proto__'), usage as unknown as fc.Arbitrary<UsageTotals>)

for (const type of ADAPTER_TYPES) {
  test(`the reader of ${type} never throws, and never reports a negative or NaN value`, () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.option(totals), (lines, stored) => {
        const reader = readerOf(type, {}, { session: stored && { id: 'a', totals: stored }, newSessionId: 'b' })
        for (const text of lines) {
          for (const fact of [...reader.line(text), ...reader.errorLine(text)]) checkFact(fact)
        }
      }),
      { numRuns: 400 },
    )
  })
}

function checkFact(fact: Fact) {
  const uses = fact.kind === 'usage' ? [fact] : fact.kind === 'totals' ? Object.values(fact.totals) : []
  for (const { inputTokens, cachedInputTokens, outputTokens, costUsd } of uses) {
    for (const count of [inputTokens, cachedInputTokens, outputTokens])
      assert.ok(Number.isInteger(count) && count >= 0, `${count}`)
    assert.ok(costUsd === null || (Number.isFinite(costUsd) && costUsd >= 0), `${costUsd}`)
  }
  if (fact.kind === 'usage') assert.equal(fact.costStatus === 'unpriced', fact.costUsd === null)
  if (fact.kind === 'text') assert.ok(fact.text.length <= 2000 && fact.text.isWellFormed())
}
