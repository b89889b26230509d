import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type LedgerModel, MAIN, type Script, startLedgerModel } from './ledger-model.ts'
import type { Decision } from './model.ts'
import { makeHome, type Program } from './programs.ts'
import { type Json, type Server, startServer, until } from './server.ts'

/** One failure of a provider or a program, and the expected result in the service. */
interface Case {
  name: string
  script: Script
  config?: object
  /** The number of started runs, and of runs at the end; default 1. */
  starts?: number
  runs?: number
  /** Called while the first run is live. */
  during?(at: Bench): Promise<void>
  check(at: { runs: Json[]; agent: Json; seconds: number }): void
}

interface Bench {
  server: Server
  companyId: string
  runs(): Promise<Json[]>
}

const refusal = (status: number, type: string, message: string, headers: Record<string, string> = {}): Decision => ({
  status,
  headers,
  error: { type: 'error', error: { type, code: type, message } },
})

const done = { block: { text: 'Done.' } } as const

/** The setting with which a program asks before it uses a tool. */
const WITH_PROMPTS: Record<Program['name'], object> = {
  claude: { dangerouslySkipPermissions: false },
  codex: { dangerouslyBypassApprovalsAndSandbox: false },
  gemini: { yolo: false },
  opencode: { autoApprove: false, env: { OPENCODE_PERMISSION: '{"bash":"ask"}' } },
}

/** A process that outlives the result of the program, in the background of its last tool call. */
const leaveBehind: Script = ({ n }) => (n === 0 ? { block: { shell: 'sleep 300 > /dev/null 2>&1 & echo left' } } : done)

function casesOf(program: Program): Case[] {
  const { name } = program
  const isClaude = name === 'claude'
  /** Whether the program compacts a session that is too long itself. */
  const compacts = isClaude || name === 'opencode'
  const tooLong = {
    claude: refusal(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    codex: refusal(400, 'context_length_exceeded', 'Your input exceeds the context window of this model.'),
    gemini: refusal(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed.',
    ),
    opencode: refusal(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
  }[name]
  /** The number of refusals until the program has retried visibly. `codex` retries silently at first. */
  const overloads = { claude: 3, codex: 12, gemini: 2, opencode: 2 }[name]
  return [
    {
      name: 'a rate limit holds the agent, and is no failure of it',
      script: () => refusal(429, 'rate_limit_error', 'Too many requests.', { 'retry-after': '3600' }),
      check({ runs: [run], agent, seconds }) {
        assert.deepEqual([run.status, run.errorCode], ['failed', 'rate_limited'])
        assert.ok(agent.heldUntil !== null && agent.status === 'idle', JSON.stringify(agent))
        assert.ok(seconds < 60, `${seconds} s`)
      },
    },
    {
      name: 'a rate limit without a time holds the agent for a minute',
      script: () => refusal(429, 'rate_limit_error', 'Too many requests.'),
      config: isClaude ? { env: { CLAUDE_CODE_MAX_RETRIES: '1' } } : {},
      check({ runs: [run], agent }) {
        assert.deepEqual([run.status, run.errorCode], ['failed', 'rate_limited'])
        const wait = Date.parse(agent.heldUntil) - Date.parse(run.finishedAt)
        assert.ok(wait > 30_000 && wait <= 61_000, `${wait} ms`)
      },
    },
    {
      name: 'a wrong key ends the run at once and says so',
      script: () => refusal(401, 'authentication_error', 'invalid x-api-key'),
      check({ runs: [run], seconds }) {
        assert.equal(run.status, 'failed')
        assert.match(run.error, /401|credential|unauthorized|authentication/i)
        assert.ok(seconds < 30, `${seconds} s`)
      },
    },
    {
      name: 'an overload is retried, and the run says so while it lives',
      script: ({ n }) => (n < overloads ? refusal(529, 'overloaded_error', 'Overloaded') : done),
      async during({ runs }) {
        await until(async () => /^retrying/.test((await runs())[0]?.retrying ?? ''), 'a retry that shows')
      },
      check({ runs: [run] }) {
        assert.deepEqual([run.status, run.retrying], ['succeeded', null])
      },
    },
    {
      name: 'a session that is longer than the context does not stop the agent',
      starts: 2,
      runs: compacts ? 2 : 3,
      script: ({ resumed }) => (resumed ? tooLong : done),
      check({ runs: [first, second, third] }) {
        if (compacts) return assert.deepEqual([first.status, second.status], ['succeeded', 'succeeded'])
        assert.deepEqual([first.status, second.status], ['succeeded', 'failed'])
        assert.match(second.errorCode, /context_overflow|dead_session/)
        assert.deepEqual([third.status, third.sessionIdBefore], ['succeeded', null])
      },
    },
    {
      name: 'a background process does not keep the run after its result',
      script: leaveBehind,
      check({ runs: [run], seconds }) {
        assert.deepEqual([run.status, run.error], ['succeeded', null])
        assert.ok(seconds < 40, `${seconds} s`)
      },
    },
    {
      name: 'without permissions, the run succeeds and says that it changed nothing',
      script: ({ n }) => (n === 0 ? { block: { shell: 'touch /tmp/not-permitted-here' } } : done),
      config: WITH_PROMPTS[name],
      check({ runs: [run] }) {
        assert.deepEqual([run.status, run.outcome], ['succeeded', 'unchanged'])
        if (isClaude) assert.match(run.outcomeDetail, /1 tool call was refused/)
      },
    },
    {
      name: 'a refusal of the model succeeds and changes nothing',
      script: () => ({ block: { text: 'I will not do that.' } }),
      check({ runs: [run] }) {
        assert.deepEqual([run.status, run.outcome], ['succeeded', 'unchanged'])
      },
    },
    {
      name: 'an argument that the program does not know names it in the error',
      script: () => done,
      config: { extraArgs: ['--no-such-argument'] },
      check({ runs: [run] }) {
        assert.equal(run.status, 'failed')
        // `opencode` prints its help, without the argument. `gemini` takes `--no-` for a negation.
        assert.match(run.error, name === 'opencode' ? /extraArgs/ : /such-argument/)
      },
    },
  ]
}

/** Causes each outcome with a program, and checks the API responses. */
export async function proveOutcomes(
  program: Program,
  command: string,
  { print, step }: { print(line: string): void; step(title: string, prove: () => Promise<void>): Promise<void> },
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-outcomes-'))
  const home = path.join(folder, 'home')
  makeHome(program, home)
  const model = await startLedgerModel()
  const server = await startServer(path.join(folder, 'data'))
  print(`${program.name} (${command})`)
  try {
    const only = process.env.CASES
    for (const one of casesOf(program).filter(({ name }) => !only || name.includes(only)))
      await step(one.name, () => prove(one, { program, command, home, model, server }))
  } finally {
    await server.stop()
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Place {
  program: Program
  command: string
  home: string
  model: LedgerModel
  server: Server
}

async function prove(one: Case, { program, command, home, model, server }: Place): Promise<void> {
  const companyId = (await server.request('POST', '/api/companies', { name: 'Outcomes' })).id
  const { env, extraArgs = [], model: modelName } = program.config(model.url)
  const { env: moreEnv, extraArgs: moreArgs = [], ...config } = (one.config ?? {}) as Json
  const { id } = await server.request('POST', `/api/companies/${companyId}/agents`, {
    name: 'Worker',
    adapterType: program.adapterType,
    adapterConfig: {
      ...{ command, graceSec: 2, timeoutSec: 120, promptTemplate: `${MAIN}: {{agent.name}}`, ...config },
      ...(modelName && { model: modelName }),
      ...{ extraArgs: [...extraArgs, ...moreArgs], env: { ...env, HOME: home, ...moreEnv } },
    },
  })
  const runs = async () => ((await server.request('GET', `/api/companies/${companyId}/runs`)) as Json[]).toReversed()
  const began = performance.now()
  for (let n = 1; n <= (one.starts ?? 1); n++) {
    const least = n === one.starts ? (one.runs ?? n) : n
    model.begin(one.script)
    await server.request('POST', `/api/agents/${id}/heartbeat/invoke`)
    if (n === 1) await one.during?.({ server, companyId, runs })
    await until(async () => {
      const all = await runs()
      return all.length >= least && all.every((run) => run.finishedAt !== null)
    }, `the end of: ${one.name}`).catch(async (error) => {
      throw new Error(`${error.message}\n${describe(await runs())}`)
    })
  }
  const seconds = (performance.now() - began) / 1_000
  const agent = await server.request('GET', `/api/agents/${id}`)
  const all = await runs()
  try {
    one.check({ runs: all, agent, seconds })
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${describe(all)}\n${agent.heldBecause}`)
  } finally {
    await server.request('POST', `/api/agents/${id}/terminate`)
  }
}

const describe = (runs: Json[]) =>
  runs
    .map((run) => `${run.status} ${run.errorCode} ${run.error} ${run.outcome} ${run.outcomeDetail} ${run.summary}`)
    .join('\n')
