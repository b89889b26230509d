import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Fact, SessionState } from '../../src/adapter/adapter.ts'
import { geminiReader } from '../../src/adapter/gemini-reader.ts'
import { opencodeReader } from '../../src/adapter/opencode-reader.ts'
import { recoverUsage } from '../../src/adapter/recover-usage.ts'
import { mergeFacts, use } from './replay.ts'

const SESSION = '11111111-1111-4111-8111-111111111111'
const PRO = 'gemini-3.1-pro-preview'
const FLASH = 'gemini-3.6-flash'
const SONNET = 'claude-sonnet-4-5'
const HAIKU = 'claude-haiku-4-5'

const resumed = (id: string): SessionState => ({ id, totals: {} })

function createHome(t: TestContext): string {
  const home = mkdtempSync(path.join(tmpdir(), 'service-home-'))
  t.after(() => rmSync(home, { recursive: true }))
  return home
}

/** Creates the session folder of `gemini`. Each record is a message with its tokens, as the program appends it. */
function createGeminiHome(t: TestContext) {
  const home = createHome(t)
  const chats = path.join(home, '.gemini/tmp/project/chats')
  return {
    env: { HOME: home },
    record(file: string, id: string, model: string, [input, cached, output]: [number, number, number]) {
      const tokens = { input, cached, output: output - 5, thoughts: 5, tool: 0, total: input + output }
      mkdirSync(path.dirname(path.join(chats, file)), { recursive: true })
      appendFileSync(path.join(chats, file), `${JSON.stringify({ id, type: 'gemini', tokens, model })}\n`)
    },
  }
}

const FILE = 'session-2026-11-22T13-13-11111111.jsonl'
const result = (models: object) => JSON.stringify({ type: 'result', status: 'success', stats: { models } })

test('a live gemini run reports the tokens of its session files, each message once and with its sub-agents', (t) => {
  const home = createGeminiHome(t)
  const reader = geminiReader({}, { session: null, newSessionId: SESSION, env: home.env })
  home.record(FILE, 'm1', PRO, [1_000, 300, 50])
  home.record(FILE, 'm1', PRO, [1_000, 300, 50]) // again, with its tool calls
  home.record('session-2026-11-22T13-13-22222222.jsonl', 'other', PRO, [9_000, 0, 900])
  home.record(`${SESSION}/helper.jsonl`, 's1', FLASH, [400, 0, 20])
  const facts = reader.poll!()
  assert.deepEqual(mergeFacts(facts).usage, {
    [PRO]: { ...use(700, 300, 50, 0.00206), costStatus: 'estimated' },
    [FLASH]: { ...use(400, 0, 20, 0.000375), costStatus: 'estimated' },
  })
  assert.deepEqual(reader.poll!(), [])
  home.record(FILE, 'm2', PRO, [1_000, 0, 50])
  assert.deepEqual(mergeFacts(reader.poll!()).usage[PRO], { ...use(1_700, 300, 100, 0.00466), costStatus: 'estimated' })
})

test('the result of gemini replaces the tokens of the session files', (t) => {
  const home = createGeminiHome(t)
  const reader = geminiReader({}, { session: null, newSessionId: SESSION, env: home.env })
  home.record(FILE, 'm1', PRO, [1_000, 0, 50])
  const facts = reader.poll!()
  const figures = { input_tokens: 1_000, output_tokens: 45, cached: 0, total_tokens: 1_050 }
  facts.push(...reader.line(result({ [FLASH]: figures })))
  home.record(FILE, 'm2', PRO, [1_000, 0, 50])
  facts.push(...reader.poll!())
  const none = { ...use(0, 0, 0, 0), costStatus: 'estimated' }
  const found = mergeFacts(facts)
  assert.deepEqual(found.usage, { [PRO]: none, [FLASH]: { ...use(1_000, 0, 50, 0.000938), costStatus: 'estimated' } })
  assert.equal(found.outcome, 'ok')
})

test('a resumed gemini session does not count the messages of earlier runs, even if the program records them again', (t) => {
  const home = createGeminiHome(t)
  home.record(FILE, 'm1', PRO, [1_000, 0, 50])
  const reader = geminiReader({}, { session: resumed(SESSION), newSessionId: 'unused', env: home.env })
  home.record(FILE, 'm1', PRO, [1_000, 0, 50])
  home.record('session-2026-11-22T13-15-11111111.jsonl', 'm2', PRO, [100, 0, 10])
  assert.deepEqual(mergeFacts(reader.poll!()).usage, {
    [PRO]: { ...use(100, 0, 10, 0.00032), costStatus: 'estimated' },
  })
})

test('the calls that gemini records after the death of its reader are recovered, without those of earlier runs', (t) => {
  const home = createGeminiHome(t)
  home.record(FILE, 'm1', PRO, [9_000, 0, 900])
  home.record(`${SESSION}/helper.jsonl`, 's1', FLASH, [9_000, 0, 900])
  const reader = geminiReader({}, { session: resumed(SESSION), newSessionId: 'unused', env: home.env })
  const facts = reader.poll!()
  const again = 'session-2026-11-22T13-15-11111111.jsonl'
  home.record(again, 'm1', PRO, [9_000, 0, 900])
  home.record(again, 'm2', PRO, [1_000, 300, 50])
  home.record(`${SESSION}/helper.jsonl`, 's2', FLASH, [400, 0, 20])
  assert.deepEqual(mergeFacts(facts).usage, {})
  assert.deepEqual(mergeFacts(recoverUsage(facts)).usage, {
    [PRO]: { ...use(700, 300, 50, 0.00206), costStatus: 'estimated' },
    [FLASH]: { ...use(400, 0, 20, 0.000375), costStatus: 'estimated' },
  })
})

test('the result of gemini is not replaced by its session files, which contain less', (t) => {
  const home = createGeminiHome(t)
  const reader = geminiReader({}, { session: null, newSessionId: SESSION, env: home.env })
  home.record(FILE, 'm1', PRO, [1_000, 0, 50])
  const facts = [...reader.poll!(), ...reader.line(result({ [FLASH]: { input_tokens: 90 }, [PRO]: {} }))]
  assert.deepEqual(recoverUsage(facts), [])
})

/** Creates the database of `opencode`, as far as the reader uses it. */
function createOpencodeHome(t: TestContext) {
  const home = createHome(t)
  const folder = path.join(home, '.local/share/opencode')
  mkdirSync(folder, { recursive: true })
  const database = new DatabaseSync(path.join(folder, 'opencode.db'))
  t.after(() => database.close())
  database.exec(`pragma journal_mode = wal;
    create table session (id text primary key, parent_id text);
    create table message (id text primary key, data text);
    create table part (id text primary key, message_id text, session_id text, time_created integer, data text)`)
  const insert = (sql: string, ...values: (string | number | null)[]) => database.prepare(sql).run(...values)
  return {
    env: { HOME: home },
    begin: (id: string, parent: string | null) => insert('insert into session values (?, ?)', id, parent),
    finish(id: string, session: string, model: string, part: object, at = Date.now()) {
      const message = JSON.stringify({ providerID: 'anthropic', modelID: model })
      insert('insert into message values (?, ?)', `m-${id}`, message)
      insert('insert into part values (?, ?, ?, ?, ?)', id, `m-${id}`, session, at, JSON.stringify(part))
    },
  }
}

const step = (input: number, output: number, cost: number) => ({
  ...{ type: 'step-finish', reason: 'tool-calls', cost },
  tokens: { input, output, reasoning: 0, cache: { read: 0, write: 0 } },
})
const line = (sessionID: string, id: string, part: object) =>
  JSON.stringify({ type: 'step_finish', sessionID, part: { ...part, id } })

test('an opencode run reports the model of each step and its sub-agents, which the output omits', (t) => {
  const home = createOpencodeHome(t)
  const reader = opencodeReader({}, { session: null, newSessionId: 'unused', env: home.env })
  const facts: Fact[] = []
  home.begin('ses_1', null)
  home.begin('ses_2', 'ses_1')
  home.begin('ses_3', null)
  home.finish('p1', 'ses_1', SONNET, step(1_000, 50, 0.004))
  facts.push(...reader.line(line('ses_1', 'p1', step(1_000, 50, 0.004))))
  home.finish('p2', 'ses_2', HAIKU, step(100, 10, 0.0005))
  home.finish('p3', 'ses_3', HAIKU, step(9_000, 900, 0.05))
  facts.push(...reader.poll!())
  assert.deepEqual(mergeFacts(facts).usage, {
    [SONNET]: { ...use(1_000, 0, 50, 0.004), costStatus: 'reported' },
    [HAIKU]: { ...use(100, 0, 10, 0.0005), costStatus: 'reported' },
  })
})

test('a step that opencode stores after its output counts once, under its model', (t) => {
  const home = createOpencodeHome(t)
  const reader = opencodeReader({}, { session: null, newSessionId: 'unused', env: home.env })
  home.begin('ses_1', null)
  const facts = reader.line(line('ses_1', 'p1', step(1_000, 50, 0.004)))
  home.finish('p1', 'ses_1', SONNET, step(1_000, 50, 0.004))
  facts.push(...reader.poll!())
  const { default: unnamed, ...named } = mergeFacts(facts).usage
  assert.deepEqual(named, { [SONNET]: { ...use(1_000, 0, 50, 0.004), costStatus: 'reported' } })
  assert.equal(unnamed!.inputTokens + unnamed!.outputTokens, 0)
})

test('a resumed opencode session does not count the steps of earlier runs', (t) => {
  const home = createOpencodeHome(t)
  home.begin('ses_1', null)
  home.finish('p1', 'ses_1', SONNET, step(1_000, 50, 0.004))
  const reader = opencodeReader({}, { session: resumed('ses_1'), newSessionId: 'unused', env: home.env })
  const facts = reader.line(JSON.stringify({ type: 'step_start', sessionID: 'ses_1', part: {} }))
  home.finish('p2', 'ses_1', SONNET, step(100, 10, 0.0005))
  facts.push(...reader.poll!())
  assert.deepEqual(mergeFacts(facts).usage, { [SONNET]: { ...use(100, 0, 10, 0.0005), costStatus: 'reported' } })
})

test('the steps that opencode stores after the death of its reader are recovered, without those of earlier runs', (t) => {
  const home = createOpencodeHome(t)
  home.begin('ses_1', null)
  home.begin('ses_2', 'ses_1')
  home.finish('p1', 'ses_1', SONNET, step(9_000, 900, 0.05), Date.now() - 5_000)
  const reader = opencodeReader({}, { session: resumed('ses_1'), newSessionId: 'unused', env: home.env })
  const facts = reader.line(line('ses_1', 'p2', step(1_000, 50, 0.004)))
  home.finish('p2', 'ses_1', SONNET, step(1_000, 50, 0.004))
  home.finish('p3', 'ses_2', HAIKU, step(100, 10, 0.0005))
  facts.push(...recoverUsage(facts))
  const { default: unnamed, ...named } = mergeFacts(facts).usage
  assert.deepEqual(named, {
    [SONNET]: { ...use(1_000, 0, 50, 0.004), costStatus: 'reported' },
    [HAIKU]: { ...use(100, 0, 10, 0.0005), costStatus: 'reported' },
  })
  assert.equal(unnamed!.inputTokens + unnamed!.outputTokens, 0, 'its model was unknown before')
})

test('the usage of opencode remains if its database is gone', () => {
  const reader = opencodeReader({}, { session: null, newSessionId: 'unused', env: { HOME: '/nowhere' } })
  const facts = reader.line(line('ses_1', 'p1', step(1_000, 50, 0.004)))
  assert.deepEqual(recoverUsage(facts), [])
})
