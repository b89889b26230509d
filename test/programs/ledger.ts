import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findShim, runTree } from '../../src/runtime/process/process-table.ts'
import { CHILD, type LedgerModel, MAIN, microsOf, type Script, startLedgerModel } from './ledger-model.ts'
import { makeHome, type Program } from './programs.ts'
import { type Json, type Server, startServer, until } from './server.ts'

/** One row of the table. */
interface Case {
  name: string
  script: Script
  config?: object
  budgetCents?: number
  /** The action on the run when the model reaches the state `when`. */
  act?(at: Bench): Promise<void>
  /** Whether the program is terminated during a call. The cost of that call can be missing. */
  endsInCall?: true
  /** Whether the output of the program breaks. It may end before it records its last call, or in a call that never ends. */
  endsByPipe?: true
  /** Whether the program is terminated during a tool. */
  endsInTool?: true
  /** A second run of the same session, on a separate page of the ledger. */
  next?: { name: string; script: Script; model?: string }
}

interface Bench {
  model: LedgerModel
  server(): Server
  restart(): Promise<void>
  agentId: string
  companyId: string
  run(): Promise<Json>
}

const MODELS = {
  claude: { main: 'claude-sonnet-4-5', other: 'claude-haiku-5-5' },
  codex: { main: 'gpt-6.1-sol', other: 'gpt-5.4-mini' },
  gemini: { main: 'gemini-2.5-pro', other: 'gemini-2.5-flash' },
  opencode: { main: 'anthropic/claude-sonnet-4-5', other: 'anthropic/claude-haiku-4-5' },
}

/** A tool call. Each one differs, because gemini stops a model that repeats itself. */
const step = (n: number) => ({ block: { shell: `true ${n}` } })
const done = { block: { text: 'Done.' } } as const
const hang = { block: { text: 'It goes on.' }, hangs: true } as const

/** Returns the given number of steps, and then a response. */
const steps =
  (count: number, last: ReturnType<Script> = done): Script =>
  ({ n }) =>
    n < count ? step(n) : n === count ? last : done

/** A sub-agent with two calls. `codex` waits for it with a separate call. */
const delegate =
  (program: Program, model?: string): Script =>
  ({ role, n }) => {
    if (role === 'child') return n === 0 ? step(n) : done
    if (n === 0) return { block: { subagent: { prompt: `${CHILD}: a part`, ...(model && { model }) } } }
    return n === 1 && program.name === 'codex' ? { block: 'wait' } : done
  }

const untilHanging = ({ model }: Bench) => until(() => model.hanging() > 0, 'a call that hangs')

/** The tokens that are written to a cache, where the protocol of the model reports them. */
const WRITES: Partial<Record<Program['name'], object>> = {
  claude: { written5m: 2_111, written1h: 3_222 },
  opencode: { written5m: 2_111 },
}

function casesOf(program: Program): Case[] {
  const { other } = MODELS[program.name]
  const writes = WRITES[program.name] ?? {}
  const isSlow = program.name === 'gemini' // a call takes it a second
  return [
    { name: 'fresh', script: steps(2), next: { name: 'resumed', script: steps(1) } },
    {
      name: 'cached',
      script: ({ n }) => ({
        ...steps(2)({ role: 'main', n, model: '', resumed: false }),
        usage: { cached: 41_000 + n, ...writes },
      }),
    },
    {
      name: 'sub-agents',
      script: delegate(program),
      next: { name: 'sub-agents, resumed', script: delegate(program) },
    },
    program.name === 'claude'
      ? { name: 'multi-model', script: delegate(program, 'haiku') }
      : {
          name: 'multi-model',
          script: steps(1),
          next: { name: 'multi-model, resumed', script: steps(1), model: other },
        },
    { name: 'cancelled', script: steps(3, hang), endsInCall: true, act: cancel },
    {
      name: 'cancelled in a tool',
      script: steps(2, { block: { shell: 'tail -f /dev/null' } }),
      endsInTool: true,
      act: cancelInTool,
    },
    {
      name: 'sub-agent cancelled',
      script: (call) => (call.role === 'child' && call.n === 1 ? hang : delegate(program)(call)),
      endsInCall: true,
      endsInTool: true,
      act: cancel,
    },
    { name: 'killed', script: steps(3, hang), endsInCall: true, act: killProgram },
    { name: 'timed out', script: steps(2, hang), config: { timeoutSec: 12 }, endsInCall: true },
    { name: 'lost (shim killed)', script: steps(3, hang), endsInCall: true, act: killShim },
    { name: 'server killed', script: steps(3, hang), act: killServer },
    { name: 'lost (server and shim killed)', script: steps(3, hang), endsInCall: true, act: killBoth },
    { name: 'lost; the program went on', script: steps(3, hang), endsByPipe: true, act: killBothAndGoOn },
    { name: 'budget-stopped', script: steps(10_000), budgetCents: isSlow ? 3 : 15, endsInCall: true },
    { name: 'failed', script: ({ n }) => (n < 2 ? step(n) : { status: 400, error: INVALID }) },
  ]
}

const INVALID = { type: 'error', error: { type: 'invalid_request_error', message: 'A request that is refused.' } }

async function cancel(at: Bench): Promise<void> {
  await untilHanging(at)
  await at.server().request('POST', `/api/runs/${(await at.run()).id}/cancel`)
}

async function cancelInTool(at: Bench): Promise<void> {
  await until(() => at.model.whole() === 3, 'the third call')
  await delay(1_000) // there is no event for the tool
  await at.server().request('POST', `/api/runs/${(await at.run()).id}/cancel`)
}

async function killProgram(at: Bench): Promise<void> {
  await untilHanging(at)
  const { id } = await at.run()
  const shim = findShim(id) ?? null
  // Signal all processes at once: the codex program from npm is the parent of the one that calls the model.
  for (const { pid } of runTree({ runId: id, leader: shim })) if (isProgram(pid)) process.kill(pid, 'SIGKILL')
}

const isProgram = (pid: number) => /\/(claude|codex|gemini|opencode)\b/.test(commandLine(pid))

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, 2).join(' ')
  } catch {
    return ''
  }
}

async function killShim(at: Bench): Promise<void> {
  await untilHanging(at)
  process.kill((await at.run()).processPid, 'SIGKILL')
}

async function killServer(at: Bench): Promise<void> {
  await untilHanging(at)
  await at.restart()
  at.model.release()
}

async function killBoth(at: Bench): Promise<void> {
  await untilHanging(at)
  const { processPid } = await at.run()
  at.server().child.kill('SIGKILL')
  process.kill(processPid, 'SIGKILL')
  await at.restart()
}

/** Kills the server and the shim, and lets the program go on until it makes no more calls. */
async function killBothAndGoOn(at: Bench): Promise<void> {
  await untilHanging(at)
  const { processPid } = await at.run()
  at.server().child.kill('SIGKILL')
  process.kill(processPid, 'SIGKILL')
  at.model.release()
  // There is no event for the end of the program: a broken pipe ends some of them.
  for (let calls = -1; calls !== at.model.whole(); await delay(4_000)) calls = at.model.whole()
  await at.restart()
}

/** Runs each case with a program and prints the table. Sets the exit code if a difference exceeds its limit. */
export async function compareLedgers(program: Program, command: string, print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-ledger-'))
  const home = path.join(folder, 'home')
  makeHome(program, home)
  const dataDir = path.join(folder, 'data')
  const model = await startLedgerModel()
  let server = await startServer(dataDir)
  const restart = async () => {
    const exited = server.child.exitCode === null && server.child.signalCode === null && once(server.child, 'exit')
    server.child.kill('SIGKILL')
    await exited
    server = await startServer(dataDir)
  }
  print(`\n${program.name} (${command})\n`)
  print('| case | run | ledger | ours | difference |')
  print('| --- | --- | ---: | ---: | --- |')
  try {
    const only = process.env.CASES?.split(',')
    for (const one of casesOf(program).filter(({ name }) => !only || only.includes(name))) {
      const companyId = (await server.request('POST', '/api/companies', { name: one.name })).id
      const { env, ...config } = program.config(model.url)
      const adapterConfig = {
        ...{ command, ...config, env: { ...env, HOME: home }, graceSec: 5, model: MODELS[program.name].main },
        ...{ promptTemplate: `${MAIN}: {{agent.name}}`, ...one.config },
      }
      const agent = { name: 'Worker', adapterType: program.adapterType, adapterConfig }
      const agentId = (await server.request('POST', `/api/companies/${companyId}/agents`, agent)).id
      if (one.budgetCents !== undefined)
        await server.request('PATCH', `/api/agents/${agentId}`, { budgetMonthlyCents: one.budgetCents })
      const runs = async () => (await server.request('GET', `/api/companies/${companyId}/runs`)) as Json[]
      const at: Bench = { model, server: () => server, restart, agentId, companyId, run: async () => (await runs())[0] }
      const row = async (
        name: string,
        script: Script,
        { act, endsInCall, endsByPipe, endsInTool }: Pick<Case, 'act' | 'endsInCall' | 'endsByPipe' | 'endsInTool'>,
      ) => {
        const before = await runs()
        model.begin(script)
        await server.request('POST', `/api/agents/${agentId}/heartbeat/invoke`)
        await act?.(at)
        const ended = async () => {
          const all = await runs()
          const isOver = all.length > before.length && all.every((run) => run.finishedAt !== null)
          // A failed run waits for a retry. The row shows the first attempt.
          return isOver && (all[0].status !== 'lost' || all.length > before.length + 1)
        }
        await until(ended, `the end of: ${name}`)
        print(
          compare(name, (await runs()).slice(0, -before.length || undefined), model, {
            endsInCall,
            endsByPipe,
            isCallMissing: endsInTool && program.recordsAfterTools,
          }),
        )
      }
      await row(one.name, one.script, one)
      // An aborted run must not change the cost of the next run of its session.
      const isCut = one.budgetCents === undefined && CUT_OFF.has((await at.run()).status)
      const next = one.next ?? (isCut ? AFTER_CUT : undefined)
      if (next) {
        if (next.model)
          await server.request('PATCH', `/api/agents/${agentId}`, {
            adapterConfig: { ...adapterConfig, model: next.model },
          })
        await row(next.name, next.script, {})
      }
      await server.request('POST', `/api/agents/${agentId}/terminate`)
    }
  } finally {
    await server.stop()
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const CUT_OFF = new Set(['cancelled', 'failed', 'timed_out'])
const AFTER_CUT = { name: '… then resumed', script: steps(1), model: undefined }

/** Compares the runs of a row with its page of the ledger. Returns the row. */
function compare(
  name: string,
  runs: Json[],
  model: LedgerModel,
  ends: { endsInCall?: true | undefined; endsByPipe?: true | undefined; isCallMissing?: true | undefined },
): string {
  const page = model.page()
  const sum = (entries: typeof page) => entries.reduce((total, entry) => total + microsOf(entry), 0)
  const whole = Math.round(sum(page.filter(({ isWhole }) => isWhole)))
  const most = Math.round(sum(page))
  const ours = Math.round(runs.reduce((total, run) => total + run.costCents * 10_000, 0))
  const difference = ours - whole
  const call = Math.max(...page.map(microsOf))
  const least = ends.isCallMissing || ends.endsByPipe ? whole - call : whole
  const limit = ends.endsInCall || ends.isCallMissing ? most : ends.endsByPipe ? most + call : whole
  const isOff = ours < least || ours > limit
  if (isOff) process.exitCode = 1
  const verdict = difference === 0 ? '0' : `${difference} µ$${isOff ? ' WRONG' : ', of the last call'}`
  const how = runs.map((run) => run.errorCode ?? run.status).toReversed()
  const calls = `${page.filter(({ isWhole }) => isWhole).length} calls${whole === most ? '' : ' and one cut off'}`
  return `| ${name} | ${how.join(', ')} | ${dollars(whole)}, ${calls} | ${dollars(ours)} | ${verdict} |`
}

const dollars = (micros: number) => `$${(micros / 1e6).toFixed(6)}`
