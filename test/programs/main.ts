/**
 * Tests the local adapters with the real agent programs, if they are
 * installed, with a mock of their models on loopback and a separate home
 * directory: `npm run programs [path/to/claude] [path/to/codex] ...`. No account, no
 * network and no model is needed. Exits with 1 after a failure.
 * `npm run programs -- --ledger` compares the costs of their runs with the
 * ledger of the mock instead, `-- --outcomes` causes failures of
 * the provider and the program, and `-- --mcp` lets the program use the tools
 * of the service. With these options, SANDBOX=bubblewrap turns the sandbox on.
 *
 *     npm install --prefix /tmp/programs @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
 *     PATH=/tmp/programs/node_modules/.bin:$PATH npm run programs
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { markedProcesses } from '../../src/runtime/process/process-table.ts'
import { startHeartbeatModel } from './heartbeat-model.ts'
import { compareLedgers } from './ledger.ts'
import { proveMcp } from './mcp.ts'
import { proveOutcomes } from './outcomes.ts'
import { installedPrograms, makeHome, type Program } from './programs.ts'
import { type Json, startServer, until } from './server.ts'

const args = process.argv.slice(2)
const given = args.filter((arg) => !arg.startsWith('-'))
for (const { program, command } of installedPrograms(given)) {
  if (!command) print(`${program.name}: not installed, skipped.`)
  else if (args.includes('--ledger')) await compareLedgers(program, command, print)
  else if (args.includes('--mcp')) {
    if (program.hasMcp) await proveMcp(program, command, { print, step })
  } else if (args.includes('--outcomes')) await proveOutcomes(program, command, { print, step })
  else for (const sandbox of ['off', 'bubblewrap'] as const) await prove(program, command, sandbox)
}

async function prove(program: Program, command: string, sandbox: 'off' | 'bubblewrap'): Promise<void> {
  print(`${program.name} (${command}), sandbox ${sandbox}`)
  const folder = mkdtempSync(path.join(tmpdir(), 'service-programs-'))
  const home = path.join(folder, 'home')
  makeHome(program, home)
  const model = await startHeartbeatModel()
  let server = await startServer(path.join(folder, 'data'))
  try {
    const company = await server.request('POST', '/api/companies', { name: 'Real programs' })
    const { env, ...config } = program.config(model.url)
    const agent = await server.request('POST', `/api/companies/${company.id}/agents`, {
      name: program.name,
      adapterType: program.adapterType,
      adapterConfig: { command, ...config, env: { ...env, HOME: home }, graceSec: 5, sandbox },
    })
    const issue = await server.request('POST', `/api/companies/${company.id}/issues`, { title: 'Do something' })
    const runs = async (): Promise<Json[]> =>
      (await server.request('GET', `/api/companies/${company.id}/runs`)).toReversed()
    const again = () => server.request('POST', `/api/issues/${issue.id}/comments`, { body: 'Once more.', reopen: true })
    /** Polls until the given number of runs have ended. This test does not cover the event for it. */
    const ended = async (count: number): Promise<Json[]> => {
      for (;;) {
        const seen = await runs()
        if (seen.length >= count && seen.every((run) => run.finishedAt !== null)) return seen
        await delay(100)
      }
    }

    await step('does its issue by its own tools and its run token', async () => {
      await server.request('PATCH', `/api/issues/${issue.id}`, { assigneeAgentId: agent.id })
      const [run] = await ended(1)
      assert.deepEqual([run.status, run.error], ['succeeded', null])
      assert.equal((await server.request('GET', `/api/issues/${issue.id}`)).status, 'done')
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
      await server.request('POST', `/api/runs/${live.id}/cancel`)
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

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
