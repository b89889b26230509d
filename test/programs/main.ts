/**
 * Proves the two local adapters on the real agent programs, as far as they are
 * installed, with a stand-in for their models on loopback and a home of their
 * own: `npm run programs [path/to/claude] [path/to/codex]`. No account, no
 * network and no model is needed. Exits 1 when something is not as it should be.
 *
 *     npm install --prefix /tmp/programs @anthropic-ai/claude-code @openai/codex
 *     PATH=/tmp/programs/node_modules/.bin:$PATH npm run programs
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { packageRoot } from '../../src/platform/package-root.ts'
import { findProgram } from '../../src/runtime/process/capabilities.ts'
import { markedProcesses } from '../../src/runtime/process/process-table.ts'
import { type StandInModel, startModel } from './model.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
type Json = any

interface Program {
  name: string
  adapterType: string
  /** Where it keeps its sessions, below its home. */
  sessions: string
  config(model: StandInModel): { extraArgs?: string[]; env: Record<string, string> }
}

const PROGRAMS: Program[] = [
  {
    name: 'claude',
    adapterType: 'runtimeA_local',
    sessions: '.claude/projects',
    config: ({ url }) => ({ env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-stand-in' } }),
  },
  {
    name: 'codex',
    adapterType: 'runtimeB_local',
    sessions: '.codex/sessions',
    config: ({ url }) => ({
      extraArgs: Object.entries({
        model_provider: 'stand_in',
        'model_providers.stand_in.name': 'stand-in',
        'model_providers.stand_in.base_url': `${url}/v1`,
        'model_providers.stand_in.wire_api': 'responses',
        'model_providers.stand_in.env_key': 'STAND_IN_KEY',
      }).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]),
      env: { STAND_IN_KEY: 'sk-stand-in' },
    }),
  },
]

const given = process.argv.slice(2)
for (const program of PROGRAMS) {
  const command =
    given.find((file) => path.basename(file) === program.name) ?? findProgram(program.name, process.env.PATH ?? '')
  if (command)
    for (const sandbox of ['off', 'bubblewrap'] as const) await prove(program, path.resolve(command), sandbox)
  else print(`${program.name}: left out, it is not installed here.`)
}

async function prove(program: Program, command: string, sandbox: 'off' | 'bubblewrap'): Promise<void> {
  print(`${program.name} (${command}), sandbox ${sandbox}`)
  const folder = mkdtempSync(path.join(tmpdir(), 'service-programs-'))
  const home = path.join(folder, 'home')
  mkdirSync(home)
  const model = await startModel()
  let server = await startServer(path.join(folder, 'data'))
  try {
    const company = await server.ask('POST', '/api/companies', { name: 'Real programs' })
    const { env, ...config } = program.config(model)
    const agent = await server.ask('POST', `/api/companies/${company.id}/agents`, {
      name: program.name,
      adapterType: program.adapterType,
      adapterConfig: { command, ...config, env: { ...env, HOME: home }, graceSec: 5, sandbox },
    })
    const issue = await server.ask('POST', `/api/companies/${company.id}/issues`, { title: 'Do something' })
    const runs = async (): Promise<Json[]> =>
      (await server.ask('GET', `/api/companies/${company.id}/runs`)).toReversed()
    const again = () => server.ask('POST', `/api/issues/${issue.id}/comments`, { body: 'Once more.', reopen: true })
    /** Waits until so many runs have ended. There is an event for it; that this works is not what is proven here. */
    const ended = async (count: number): Promise<Json[]> => {
      for (;;) {
        const seen = await runs()
        if (seen.length >= count && seen.every((run) => run.finishedAt !== null)) return seen
        await delay(100)
      }
    }

    await step('does its issue by its own tools and its run token', async () => {
      await server.ask('PATCH', `/api/issues/${issue.id}`, { assigneeAgentId: agent.id })
      const [run] = await ended(1)
      assert.deepEqual([run.status, run.error], ['succeeded', null])
      assert.equal((await server.ask('GET', `/api/issues/${issue.id}`)).status, 'done')
      assert.ok(run.usage.inputTokens > 0 && run.costStatus !== 'none', 'its use is on the books')
    })
    await step('resumes its session, whose use is not counted twice', async () => {
      await again()
      const [first, second] = await ended(2)
      assert.deepEqual([second.status, second.sessionIdBefore], ['succeeded', first.sessionIdAfter])
      assert.ok(second.usage.inputTokens <= first.usage.inputTokens)
    })
    await step('begins a fresh session, once, when its session is gone', async () => {
      const state = path.join(folder, 'data/sandbox', agent.id)
      rmSync(sandbox === 'off' ? path.join(home, program.sessions) : state, { recursive: true })
      await again()
      const [dead, fresh] = (await ended(4)).slice(2)
      assert.deepEqual([dead.status, dead.errorCode], ['failed', 'dead_session'])
      assert.deepEqual([fresh.status, fresh.retryOfRunId, fresh.sessionIdBefore], ['succeeded', dead.id, null])
    })
    await step('outlives a kill -9 of the server, and the next one carries its run on', async () => {
      model.hold()
      await again()
      await until(() => model.held() > 0)
      server.child.kill('SIGKILL')
      await once(server.child, 'exit')
      server = await startServer(path.join(folder, 'data'))
      const live = (await runs()).at(-1)
      assert.equal(live.status, 'running')
      model.release()
      const last = (await ended(5)).at(-1)
      assert.deepEqual([last.id, last.status], [live.id, 'succeeded'])
    })
    await step('is gone with all of its processes when its run is cancelled', async () => {
      model.hold()
      await again()
      await until(() => model.held() > 0)
      const live = (await runs()).at(-1)
      const begun = performance.now()
      await server.ask('POST', `/api/runs/${live.id}/cancel`)
      const last = (await ended(6)).at(-1)
      assert.deepEqual([last.id, last.status], [live.id, 'cancelled'])
      assert.equal(markedProcesses().has(live.id), false)
      assert.ok(performance.now() - begun < 7_000, 'within its grace and 2 s')
      model.release()
    })
  } finally {
    await server.stop()
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function step(title: string, prove: () => Promise<void>): Promise<void> {
  const begun = performance.now()
  try {
    await prove()
    print(`  ok      ${title} (${((performance.now() - begun) / 1_000).toFixed(1)} s)`)
  } catch (error) {
    process.exitCode = 1
    print(`  FAILED  ${title}\n${error instanceof Error ? error.message : error}`)
  }
}

/** There is no event for a request that the model was asked. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 600, 'waited for 30 s')
    await delay(50)
  }
}

interface Server {
  child: ChildProcess
  ask(method: string, path: string, body?: object): Promise<Json>
  stop(): Promise<void>
}

async function startServer(dataDir: string): Promise<Server> {
  const launcher = path.join(packageRoot(), 'bin/service.mjs')
  const child = spawn(process.execPath, [launcher, 'start', '--json', '--port', '0', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = JSON.parse(line)
  return {
    child,
    async ask(method, path, body) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      const answer: Json = await response.json()
      assert.ok(response.ok, `${method} ${path}: ${answer.error}`)
      return answer
    },
    async stop() {
      const exit = once(child, 'exit')
      child.kill('SIGINT')
      await exit
    },
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
