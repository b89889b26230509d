import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Config } from '../src/platform/config.ts'
import { sql } from '../src/platform/database/sql.ts'
import { argvOf } from '../src/platform/programs.ts'
import { createExecutor, type Executor } from '../src/runtime/executor/executor.ts'
import { createIsolation } from '../src/runtime/isolation/isolation.ts'
import { createProbe } from '../src/runtime/process/capabilities.ts'
import { markedProcesses } from '../src/runtime/process/process-table.ts'
import { createScheduler } from '../src/runtime/scheduler/scheduler.ts'
import { searchArguments } from './canary/argv.ts'
import { createTestApp, type TestApp } from './helpers.ts'

const ownRuns = sql.selectFrom('run').select('id')

/** The folder of the small programs that act as agents. */
const AGENTS = path.join(import.meta.dirname, 'agents')

/** The app with a scheduler that the test calls, and runs that are real processes. */
export interface TestRuns extends TestApp {
  companyId: string
  executor: Executor
  /** Creates an agent that runs one of the programs in test/agents, and returns its id. */
  agentThat(
    program: string,
    options?: {
      args?: string[]
      config?: object
      heartbeat?: object
      budget?: number
      speaks?: 'runtimeA_local' | 'runtimeB_local'
    },
  ): Promise<string>
  /** Runs one tick of the scheduler. */
  tick(): Promise<void>
  /** Runs the scheduler twice, and waits for all runs each time. */
  runUntilIdle(): Promise<void>
  /** The company's runs, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
  runs(): Promise<any[]>
  /** Resolves with the data of the next event of a type. */
  next(type: string): Promise<unknown>
}

export const createTestRuns = (t: TestContext, overrides: Partial<Config> = {}): Promise<TestRuns> =>
  createTestRunsIn(createTestApp(t, { environment: { PATH: process.env.PATH ?? '' }, maxRuns: 4, ...overrides }))

/** Probed once for all tests of a process: this takes six processes. */
const isolation = createIsolation(process.env.PATH)

/** Adds a scheduler and an executor to an app. @param app with an `ask` as the board, or as a person who may create companies */
export async function createTestRunsIn(
  app: TestApp,
  { shim = argvOf('shim') }: { shim?: readonly [string, ...string[]] } = {},
): Promise<TestRuns> {
  const { PATH } = app.config.environment
  const executor = createExecutor(app.ctx, {
    apiUrl: 'http://127.0.0.1:1',
    probe: createProbe(app.config.environment),
    isolation: PATH === process.env.PATH ? isolation : createIsolation(PATH),
    shim,
    postProgram: argvOf('post'),
    tokens: app.ctx.tokens,
    openRemoteRuns: async (...given) =>
      (await import('../src/runtime/placement/remote-runs.ts')).createRemoteRuns(...given),
  })
  const scheduler = createScheduler(app.ctx, executor)
  app.onClose(async () => {
    scheduler.close()
    await executor.stopAll()
    await executor.close()
    const left = [...markedProcesses().keys()]
    const own = app.ctx.db.all(ownRuns).map((run) => run.id)
    if (left.some((id) => own.includes(id))) throw new Error('A run left a process behind.')
  })
  // The shim has started, and perhaps its command. test/canary/run.test.ts waits for the command.
  app.ctx.events.subscribe(({ type, data }) => {
    if (type === 'run.running') searchArguments(app.canaries, (data as { runId: string }).runId)
  })
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  mkdirSync(path.join(app.config.dataDir, 'work'))

  return {
    ...app,
    companyId: company.id,
    executor,
    async agentThat(program, { args = [], config = {}, heartbeat = {}, budget, speaks } = {}) {
      if (speaks) writeLauncher(app, program, args)
      const runs = speaks
        ? { command: launcherOf(app, program) }
        : { command: process.execPath, args: [path.join(AGENTS, program), ...args] }
      const agent = await app.make('POST', `/api/companies/${company.id}/agents`, {
        name: program,
        adapterType: speaks ?? 'process',
        adapterConfig: {
          ...runs,
          cwd: path.join(app.config.dataDir, 'work'),
          graceSec: 1,
          ...config,
        },
        runtimeConfig: { heartbeat },
        ...(budget !== undefined && { budgetMonthlyCents: budget }),
      })
      return agent.id
    },
    tick: scheduler.tick,
    async runUntilIdle() {
      await scheduler.tick()
      await executor.idle()
      await scheduler.tick()
      await executor.idle()
    },
    runs: async () => (await app.request('GET', `/api/companies/${company.id}/runs`)).body.toReversed(),
    next: (type) =>
      new Promise((resolve) => {
        const end = app.ctx.events.subscribe((event) => {
          if (event.type !== type) return
          end()
          resolve(event.data)
        })
      }),
  }
}

const launcherOf = (app: TestApp, program: string) => path.join(app.config.dataDir, `${program}.sh`)

/** Writes a launcher script that accepts any adapter arguments, and exits for `--help` and `--version`. */
function writeLauncher(app: TestApp, program: string, args: string[]): void {
  const command = [process.execPath, path.join(AGENTS, program), ...args].map((word) => `'${word}'`).join(' ')
  const script = `#!/bin/sh\ncase " $* " in *" --help "* | *" --version "*) exit 0 ;; esac\nexec ${command}\n`
  writeFileSync(launcherOf(app, program), script, { mode: 0o755 })
}
