import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fact, OutputReader, ReaderInput } from '../../src/adapter/adapter.ts'
import { geminiReader } from '../../src/adapter/gemini-reader.ts'
import { opencodeReader } from '../../src/adapter/opencode-reader.ts'
import { mergeFacts } from './replay.ts'

const run: ReaderInput = { session: null, newSessionId: 'session-1' }

/** The lines of two programs that retry a request, and of the response that they get at last. */
const programs: {
  name: string
  create(now: () => number): OutputReader
  refusal(message: string): string
  response: object
}[] = [
  {
    name: 'gemini',
    create: (now) => geminiReader({}, run, now),
    refusal: (message) =>
      `Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429,"message":"${message}","status":429}}`,
    response: { type: 'message', role: 'assistant', content: 'Hello', delta: true },
  },
  {
    name: 'opencode',
    create: (now) => opencodeReader({}, run, now),
    refusal: (message) =>
      `timestamp=2026-11-22T17:34:22.746Z level=ERROR run=327284c5 message="stream error" modelID=m session.id=ses_1 error.error="AI_APICallError: ${message}"`,
    response: { type: 'step_start', sessionID: 'ses_1', part: {} },
  },
]

for (const { name, create, refusal, response } of programs) {
  test(`${name} may retry a request beyond a rate limit for 20 s, and then its agent is held`, () => {
    let now = Date.parse('2026-11-22T12:00:00Z')
    const reader = create(() => now)
    const refuse = (message: string) => mergeFacts(reader.errorLine(refusal(message)))
    const poll = (): Fact[] => reader.poll!()
    assert.match(refuse('Too many requests.').retrying!, /^retrying.*Too many requests\.$/)
    now += 19_000
    assert.equal(mergeFacts(poll()).gaveUp, false)
    assert.equal(mergeFacts(reader.line(JSON.stringify(response))).retrying, null)
    refuse('Too many requests.')
    now += 19_000
    assert.equal(mergeFacts(poll()).gaveUp, false, 'the response ended the first series of refusals')
    refuse('Too many requests, try again in 2 hours.')
    now += 1_000
    const found = mergeFacts(poll())
    assert.deepEqual(
      [found.gaveUp, found.outcome, found.limited],
      [true, 'rate_limited', new Date(now + 2 * 3_600_000).toISOString()],
    )
    assert.match(found.message!, /^The provider refuses requests: .*Too many requests/)
    assert.equal(mergeFacts(poll()).gaveUp, false, 'once')
  })
}

test('an overload that opencode retries is no rate limit', () => {
  let now = 0
  const reader = opencodeReader({}, run, () => now)
  const [, opencode] = programs
  assert.equal(mergeFacts(reader.errorLine(opencode!.refusal('Overloaded'))).retrying, 'retrying: Overloaded')
  now += 3_600_000
  assert.deepEqual(reader.poll!(), [])
})

test('a session that opencode cannot compact is dead, unless the program continues', () => {
  const [, opencode] = programs
  const tooLong = opencode!.refusal('prompt is too long: 210000 tokens > 200000 maximum')
  const stuck = opencodeReader({}, run)
  stuck.errorLine(tooLong)
  const textAt = (end: string) =>
    JSON.stringify({ type: 'text', sessionID: 'ses_1', part: { text: 'Done.', time: { end: Date.parse(end) } } })
  stuck.line(JSON.stringify(opencode!.response))
  stuck.line(textAt('2026-11-22T17:34:22.700Z'))
  assert.equal(mergeFacts(stuck.poll!()).dead, false, 'it may compact its session')
  const found = mergeFacts(stuck.poll!(true))
  assert.deepEqual([found.dead, found.outcome], [true, 'context_overflow'])
  const failed = opencodeReader({}, run)
  failed.errorLine(
    'level=ERROR message=process session.id=ses_1 error="prompt is too long: 210000 tokens > 200000 maximum" stack="AI_APICallError"',
  )
  assert.equal(mergeFacts(failed.poll!(true)).dead, true)
  const compacted = opencodeReader({}, run)
  compacted.errorLine(tooLong)
  const error = { name: 'ContextOverflowError', data: { message: 'prompt is too long: 210000 tokens' } }
  const stop = { type: 'step_finish', sessionID: 'ses_1', part: { id: 'prt_1', reason: 'stop' } }
  const facts = [{ type: 'error', sessionID: 'ses_1', error }, JSON.parse(textAt('2026-11-22T17:34:22.800Z')), stop]
    .flatMap((line) => compacted.line(JSON.stringify(line)))
    .concat(compacted.poll!(true))
  assert.equal(mergeFacts(facts).dead, false)
  assert.deepEqual(
    facts.find(({ kind }) => kind === 'outcome'),
    { kind: 'outcome', ok: true, code: null, message: null, exitCode: 1 },
    'the program ends with 1 after an error event, even if it completed its work',
  )
})

test('a wrong key of opencode is named as such', () => {
  const error = { name: 'APIError', data: { message: 'invalid x-api-key', statusCode: 401 } }
  const found = mergeFacts(opencodeReader({}, run).line(JSON.stringify({ type: 'error', sessionID: 'ses_1', error })))
  assert.deepEqual([found.outcome, /credentials: 401 invalid x-api-key/.test(found.message!)], ['unauthorized', true])
})

test('an argument that gemini does not know is named, not the end of its help', () => {
  const { outcome, message } = mergeFacts(
    geminiReader({}, run).errorLine('Unknown arguments: such-argument, suchArgument'),
  )
  assert.deepEqual([outcome, message], ['usage', 'Unknown arguments: such-argument, suchArgument. Check extraArgs.'])
})

test('the help that opencode prints for an unknown argument becomes an error that names the setting', () => {
  const reader = opencodeReader({}, run)
  const { outcome, message } = mergeFacts(reader.errorLine('opencode run [message..]'))
  assert.equal(outcome, 'usage')
  assert.match(message!, /extraArgs/)
})
