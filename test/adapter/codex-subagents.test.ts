import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Fact } from '../../src/adapter/adapter.ts'
import { readSessionFileUsage } from '../../src/adapter/codex-meter.ts'
import { codexReader } from '../../src/adapter/codex-reader.ts'
import { mergeFacts, use } from './replay.ts'

const ROOT = '0199a213-81c0-7800-8aa1-bbab2a035a53'
const CHILD = '0199a213-81c0-7800-8aa1-bbab2a035a54'
const OTHER = '0199a213-81c0-7800-8aa1-bbab2a035a55'

/** Creates a home directory with recorded `codex` threads. */
function createHome(t: TestContext) {
  const home = mkdtempSync(path.join(tmpdir(), 'service-home-'))
  t.after(() => rmSync(home, { recursive: true }))
  const now = new Date()
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0'))
  const folder = path.join(home, '.codex/sessions', ...day)
  mkdirSync(folder, { recursive: true })
  const write = (thread: string, ...lines: object[]) =>
    appendFileSync(
      path.join(folder, `rollout-${thread}.jsonl`),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    )
  return {
    env: { HOME: home },
    /** Starts the file of a thread. A sub-agent has the session of its root thread. */
    begin: (thread: string, session: string, model: string) =>
      write(
        thread,
        { type: 'session_meta', payload: { session_id: session, id: thread, base_instructions: 'x'.repeat(5_000) } },
        { type: 'turn_context', payload: { model } },
      ),
    /** Records the total usage of a thread before its tool ends, in the file of the same or another thread. */
    record: (file: string, thread: string, input: number, output: number) => {
      const thread_token_usage = { input_tokens: input, cached_input_tokens: 0, output_tokens: output }
      write(file, { type: 'token_usage_record', payload: { thread_id: thread, thread_token_usage } })
    },
    spend: (thread: string, input: number, output: number) => {
      const total_token_usage = { input_tokens: input, cached_input_tokens: 0, output_tokens: output }
      write(thread, { type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage } } })
    },
  }
}

const usageOf = (facts: Fact[]) =>
  Object.fromEntries(
    Object.entries(mergeFacts(facts).usage).map(([model, { costStatus: _, ...figures }]) => [
      model,
      { ...figures, costUsd: null },
    ]),
  )

test('the usage of a codex run includes its sub-agents, and excludes those of other threads', (t) => {
  const home = createHome(t)
  const reader = codexReader({}, { session: null, newSessionId: 'x', env: home.env })
  const facts: Fact[] = []
  home.begin(ROOT, ROOT, 'gpt-5.5')
  facts.push(...reader.line(JSON.stringify({ type: 'thread.started', thread_id: ROOT })))
  home.spend(ROOT, 100, 10)
  home.begin(CHILD, ROOT, 'gpt-5.5')
  home.begin(OTHER, OTHER, 'gpt-5.5')
  home.spend(OTHER, 9_000, 900)
  home.spend(CHILD, 1_000, 100)
  facts.push(...reader.poll!())
  home.spend(CHILD, 2_000, 200)
  home.spend(ROOT, 150, 15)
  const end = { input_tokens: 150, cached_input_tokens: 0, output_tokens: 15 }
  facts.push(...reader.line(JSON.stringify({ type: 'turn.completed', usage: end })), ...reader.poll!())
  assert.deepEqual(usageOf(facts), { 'gpt-5.5': use(2_150, 0, 215, null) })
  assert.deepEqual(
    mergeFacts(facts).totals,
    { 'gpt-5.5': use(150, 0, 15, null) },
    'the next run resumes its own thread',
  )

  const starts = facts.filter((fact) => fact.kind === 'session_file')
  assert.deepEqual(usageOf(readSessionFileUsage(starts)), usageOf(facts), 'a lost run costs the same')
})

test('the usage of a resumed codex run excludes earlier sub-agent usage', (t) => {
  const home = createHome(t)
  home.begin(ROOT, ROOT, 'gpt-5.5')
  home.spend(ROOT, 100, 10)
  home.begin(CHILD, ROOT, 'gpt-5.4')
  home.spend(CHILD, 1_000, 100)
  const reader = codexReader({}, { session: { id: ROOT, totals: {} }, newSessionId: 'x', env: home.env })
  const facts = reader.line(JSON.stringify({ type: 'thread.started', thread_id: ROOT }))
  home.spend(ROOT, 130, 13)
  home.spend(CHILD, 1_500, 150)
  facts.push(...reader.poll!())
  assert.deepEqual(usageOf(facts), { 'gpt-5.5': use(30, 0, 3, null), 'gpt-5.4': use(500, 0, 50, null) })
})

test('a model call counts once, when its response is recorded, before its tool ends', (t) => {
  const home = createHome(t)
  const reader = codexReader({}, { session: null, newSessionId: 'x', env: home.env })
  const facts: Fact[] = []
  home.begin(ROOT, ROOT, 'gpt-5.5')
  facts.push(...reader.line(JSON.stringify({ type: 'thread.started', thread_id: ROOT })))
  home.record(ROOT, CHILD, 9_000, 900)
  home.record(ROOT, ROOT, 100, 10)
  facts.push(...reader.poll!())
  assert.deepEqual(usageOf(facts), { 'gpt-5.5': use(100, 0, 10, null) })
  home.spend(ROOT, 100, 10)
  home.record(ROOT, ROOT, 300, 30)
  facts.push(...reader.poll!())
  assert.deepEqual(usageOf(facts), { 'gpt-5.5': use(300, 0, 30, null) })
})
