import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Fact } from '../../../src/adapter/adapter.ts'
import type { RunProcess } from '../../../src/runtime/process/follow.ts'
import { spawnRun } from '../../../src/runtime/process/process.ts'
import { markedProcesses } from '../../../src/runtime/process/process-table.ts'
import type { RunSpec } from '../../../src/runtime/process/run-files.ts'
import { readLog } from '../../../src/runtime/run-log/read-log.ts'

const root = path.resolve(import.meta.dirname, '../../..')

export const SHIM = [process.execPath, path.join(root, 'src/runtime/process/shim.ts')] as const

/** Returns the path of a fixture program. */
export const agentProgram = (name: string) => path.join(root, 'test/agents', `${name}.js`)

/** Returns the specification of a run of a fixture program, with normal limits. */
export function specOf(agent: string, args: string[] = [], changes: Partial<RunSpec> = {}): RunSpec {
  return {
    runId: randomUUID(),
    command: process.execPath,
    args: [agentProgram(agent), ...args],
    wrapper: [],
    env: { PATH: process.env.PATH ?? '' },
    cwd: tmpdir(),
    realCwd: null,
    opens: [],
    stdin: '',
    reader: { type: 'process', config: {}, session: null, newSessionId: randomUUID() },
    redact: [],
    budgetMicros: null,
    timeoutSec: 60,
    silenceSec: null,
    graceSec: 1,
    logCap: 1024 * 1024,
    ...changes,
  }
}

/** Creates the folder of one run. After the test, no process of the run may exist. */
export function runFolder(t: TestContext, runId: string): string {
  const runDir = mkdtempSync(path.join(tmpdir(), 'service-run-'))
  t.after(async () => {
    const left = markedProcesses().get(runId) ?? []
    for (const { pid } of left) killIfLive(pid)
    rmSync(runDir, { recursive: true, force: true })
    assert.deepEqual(left, [], 'the run left processes behind')
  })
  return runDir
}

/** Kills a process that may have ended since it was found. */
export function killIfLive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export interface StartedRun extends RunProcess {
  facts: Fact[]
}

export async function start(t: TestContext, spec: RunSpec): Promise<StartedRun> {
  const facts: Fact[] = []
  const runDir = runFolder(t, spec.runId)
  const run = await spawnRun(spec, { shim: SHIM, runDir, onFacts: (batch) => void facts.push(...batch) })
  t.after(() => run.close())
  return { ...run, facts }
}

/** Returns the whole log of a run. */
export const logOf = (runDir: string) => readLog(runDir, 0, Number.MAX_SAFE_INTEGER / 2 ** 20).text

/** Waits until the log of a run contains a text. */
export async function logShows(runDir: string, text: string, ms = 10_000): Promise<void> {
  await until(() => logOf(runDir).includes(text), `the log to show ${text}`, ms)
}

/** Polls until a condition is true, for conditions without an event. */
export async function until(holds: () => boolean, what: string, ms = 10_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!holds()) {
    assert.ok(performance.now() < deadline, `waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Returns the peak memory of a live process in bytes, or 0 if the process is ending. */
export function memoryOf(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) * 1024
}

export const firstLine = async (stream: NodeJS.ReadableStream): Promise<string> =>
  String((await once(stream, 'data'))[0])
