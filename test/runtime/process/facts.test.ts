import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fact } from '../../../src/adapter/adapter.ts'
import { openFactLog } from '../../../src/runtime/process/fact-log.ts'
import { watchRun } from '../../../src/runtime/process/process.ts'
import { exitFile, factsFile, writeExit } from '../../../src/runtime/process/run-files.ts'
import { until } from './runs.ts'

const usage = (outputTokens: number, model = 'demo-model'): Fact => ({
  kind: 'usage',
  provider: 'demo',
  model,
  costStatus: 'reported',
  inputTokens: 1,
  cachedInputTokens: 0,
  outputTokens,
  costUsd: null,
})
const END = {
  exitCode: 0,
  signal: null,
  reason: 'exited' as const,
  startedAt: null,
  finishedAt: '2026-11-21T09:00:00.000Z',
  bytes: { stdout: 0, stderr: 0 },
  strays: 0,
  left: 0,
}

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'service-facts-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}
const linesOf = (runDir: string) =>
  readFileSync(factsFile(runDir), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('the first usage is written immediately, and later usage within 100 ms', async (t) => {
  const runDir = folder(t)
  const log = openFactLog(factsFile(runDir))
  log.add([usage(1)])
  log.flush()
  assert.deepEqual(linesOf(runDir), [usage(1)])
  log.add([usage(2)])
  log.add([usage(3)])
  log.flush()
  assert.deepEqual(linesOf(runDir), [usage(1)])
  await delay(100)
  assert.deepEqual(linesOf(runDir), [usage(1), usage(3)])
  log.close()
})

test('pending facts are written at the end, and no fact is written twice', async (t) => {
  const runDir = folder(t)
  const log = openFactLog(factsFile(runDir))
  for (const fact of [usage(1), usage(1), { kind: 'text', text: 'a' } as const]) {
    log.add([fact])
    log.flush()
  }
  log.add([usage(1), { kind: 'text', text: 'b' }, usage(4, 'other-model')])
  log.close()
  assert.deepEqual(linesOf(runDir), [
    usage(1),
    { kind: 'text', text: 'a' },
    { kind: 'text', text: 'b' },
    usage(4, 'other-model'),
  ])
})

test('many facts do not grow the file above its limit', (t) => {
  const runDir = folder(t)
  const log = openFactLog(factsFile(runDir))
  for (let i = 0; i < 100_000; i++) {
    log.add([usage(i), usage(i, `model-${i}`), { kind: 'text', text: `${i} ${'x'.repeat(1_000)}` }])
    log.flush()
  }
  log.close()
  assert.ok(statSync(factsFile(runDir)).size < 5_000_000, `${statSync(factsFile(runDir)).size} bytes`)
  assert.deepEqual(
    linesOf(runDir).findLast((fact) => fact.model === 'demo-model'),
    usage(99_999),
  )
})

test('facts can be followed while they are written, from an offset, each with its end offset', async (t) => {
  const runDir = folder(t)
  const log = openFactLog(factsFile(runDir))
  const ref = { runId: 'none', runDir, identity: null }
  const seen: { facts: Fact[]; offset: number }[] = []
  log.add([usage(1)])
  log.flush()
  // This shim counts as alive, because its end is not reported.
  const shimExited = Promise.withResolvers<void>()
  const identity = { pid: 1, startTime: 'x', bootId: 'x' }
  const run = watchRun(
    { ...ref, identity },
    { onFacts: (facts, offset) => void seen.push({ facts, offset }), shimExited: shimExited.promise },
  )
  await until(() => seen.length === 1, 'the first fact')
  log.add([{ kind: 'text', text: 'é'.repeat(100) }])
  log.flush()
  await until(() => seen.length === 2, 'the second fact')
  assert.deepEqual(seen[1]!.facts, [{ kind: 'text', text: 'é'.repeat(100) }])
  assert.equal(seen[1]!.offset, statSync(factsFile(runDir)).size)
  log.add([usage(9)])
  log.close()
  writeExit(runDir, END)
  shimExited.resolve()
  assert.deepEqual(await run.ended, END)
  assert.deepEqual(seen.flatMap(({ facts }) => facts).at(-1), usage(9))

  const late: Fact[] = []
  const again = watchRun(ref, { factsOffset: seen[1]!.offset, onFacts: (facts) => void late.push(...facts) })
  await again.ended
  assert.deepEqual(late, [usage(9)])
})

test('the end waits until the facts are recorded, and fails if they cannot be recorded', async (t) => {
  const runDir = folder(t)
  const log = openFactLog(factsFile(runDir))
  log.add([usage(1)])
  log.close()
  writeExit(runDir, END)
  const ref = { runId: 'none', runDir, identity: null }
  let stored = false
  await watchRun(ref, {
    async onFacts() {
      await delay(50)
      stored = true
    },
  }).ended
  assert.ok(stored)
  const failing = watchRun(ref, {
    onFacts() {
      throw new Error('no database')
    },
  })
  await assert.rejects(failing.ended, { message: 'no database' })
})

test('an incomplete line in the facts is skipped', async (t) => {
  const runDir = folder(t)
  const { writeFileSync } = await import('node:fs')
  writeFileSync(factsFile(runDir), `{"kind":"te\n${JSON.stringify(usage(2))}\n`)
  writeFileSync(exitFile(runDir), JSON.stringify(END))
  const seen: Fact[] = []
  await watchRun({ runId: 'none', runDir, identity: null }, { onFacts: (facts) => void seen.push(...facts) }).ended
  assert.deepEqual(seen, [usage(2)])
})
