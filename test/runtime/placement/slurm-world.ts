import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Cluster, startCluster } from './cluster.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
export type Json = any

/** A record that a program of an agent wrote when it spent money: what a provider would charge. */
export interface Spent {
  runId: string
  cents: number
  /** Milliseconds since 1970. */
  at: number
}

/** A server, a Slurm cluster of two nodes, and agents whose runs execute on it. */
export interface SlurmWorld {
  cluster: Cluster
  url: string
  companyId: string
  startServer(): Promise<void>
  /** Ends the server with SIGKILL. */
  killServer(): Promise<void>
  request(method: string, where: string, body?: object): Promise<Json>
  runs(): Promise<Json[]>
  /** Creates an agent in the placement `cluster` with a program of shell commands. It can call `spend <cents>` and `until_released`. */
  addAgent(
    name: string,
    script: string,
    more?: { adapterConfig?: object; budgetMonthlyCents?: number },
  ): Promise<string>
  wake(agentId: string): Promise<Json>
  /** Ends the wait of programs in `until_released`. */
  release(): void
  /** Waits for a condition. It fails with the queue and the runs after the timeout. */
  until<Value>(find: () => Promise<Value | undefined | false>, what: string, timeoutSec?: number): Promise<Value>
  /** The ids of the runs whose program started, in order. A run that starts twice appears twice. */
  starts(): string[]
  spent(): Spent[]
  /** The tokens of the runs whose program started. */
  tokens(): { runId: string; token: string }[]
  /** The ids of the runs that have a job in one of the states, such as `PENDING,RUNNING`. */
  jobs(states: string, ...options: string[]): string[]
  close(): Promise<void>
}

/** @param cpus of each node: the number of runs that it executes at the same time */
export async function createSlurmWorld(cpus: number): Promise<SlurmWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-slurm-'))
  const at = (...names: string[]) => path.join(folder, ...names)
  for (const name of ['tokens', 'programs']) mkdirSync(at(name))
  const cluster = await startCluster(folder, cpus)
  const url = `http://127.0.0.1:${await freePort()}`
  let server: ChildProcess | undefined
  let log = ''
  let companyId = ''

  async function startServer(): Promise<void> {
    const args = ['src/main.ts', 'start', '--data-dir', at('data'), '--port', new URL(url).port]
    const child = spawn(process.execPath, args, { cwd: ROOT, env: cluster.env, stdio: ['ignore', 'ignore', 'pipe'] })
    server = child
    child.stderr.on('data', (chunk) => {
      log += chunk
    })
    const isHealthy = () =>
      fetch(`${url}/api/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    for (let tries = 0; tries < 600; tries++) {
      if (await isHealthy()) return
      assert.equal(child.exitCode, null, log)
      await delay(100)
    }
    assert.fail(`The server did not start. ${log}`)
  }

  async function killServer(): Promise<void> {
    if (!server) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
    server = undefined
  }

  async function send(method: string, where: string, body?: object): Promise<Json> {
    const response = await fetch(`${url}${where}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const json = await response.json()
    assert.ok(response.ok, `${method} ${where}: ${JSON.stringify(json)}`)
    return json
  }

  const runs = (): Promise<Json[]> => send('GET', `/api/companies/${companyId}/runs?limit=1000`)

  const squeue = (...options: string[]) => execFileSync('squeue', options, { env: cluster.env, encoding: 'utf8' })

  const linesOf = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8').trim().split('\n') : [])

  await startServer()
  await send('POST', '/api/placements', {
    name: 'cluster',
    type: 'slurm',
    settings: { publicUrl: url, partition: 'main', workdir: at('work'), node: process.execPath },
    maxRuns: 1000,
  })
  companyId = (await send('POST', '/api/companies', { name: 'Acme' })).id

  return {
    cluster,
    url,
    companyId,
    startServer,
    killServer,
    request: send,
    runs,
    async addAgent(name, script, more = {}) {
      const program = at('programs', `${name}.sh`)
      writeFileSync(program, programOf(folder, script), { mode: 0o755 })
      const agent = await send('POST', `/api/companies/${companyId}/agents`, {
        name,
        adapterType: 'runtimeA_local',
        runtimeConfig: { placement: 'cluster' },
        ...more,
        adapterConfig: { command: program, graceSec: 1, ...more.adapterConfig },
      })
      return agent.id
    },
    wake: (agentId) => send('POST', `/api/agents/${agentId}/heartbeat/invoke`, {}),
    release: () => writeFileSync(at('released'), ''),
    async until(find, what, timeoutSec = 60) {
      const deadline = performance.now() + timeoutSec * 1_000
      while (performance.now() < deadline) {
        const found = await find()
        if (found) return found
        await delay(200)
      }
      const displayed = (await runs()).map(({ id, status, retryOfRunId, waitingBecause, error }) =>
        JSON.stringify({ id, status, retryOfRunId, waitingBecause, error }),
      )
      assert.fail(
        [what, squeue('--states=all', '--format=%i %j %T %M %N %r'), ...displayed, log.slice(-4_000)].join('\n'),
      )
    },
    starts: () => linesOf('starts'),
    spent: () =>
      linesOf('spent').map((line) => {
        const [runId = '', cents, at] = line.split(' ')
        return { runId, cents: Number(cents), at: Number(at) }
      }),
    tokens: () =>
      readdirSync(at('tokens')).map((runId) => ({ runId, token: readFileSync(at('tokens', runId), 'utf8').trim() })),
    jobs: (states, ...options) =>
      squeue('--noheader', `--states=${states}`, '--format=%j', ...options)
        .split('\n')
        .filter((name) => name.startsWith('service-'))
        .map((name) => name.trim().replace('service-', '')),
    async close() {
      await killServer()
      await cluster.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Returns a program that speaks the stream of runtimeA_local. It records its
 * start and its token. `spend` records the amount before it reports the usage.
 */
const programOf = (folder: string, script: string) => `#!/bin/sh
cd '${folder}'
printf %s "$SERVICE_API_KEY" > "tokens/.$SERVICE_RUN_ID" && mv "tokens/.$SERVICE_RUN_ID" "tokens/$SERVICE_RUN_ID"
echo "$SERVICE_RUN_ID" >> starts
session=5f0c6a3e-5b0e-4a60-9c5a-0f4a3c2b1d00
calls=0
cents=0
echo '{"type":"system","subtype":"init","session_id":"'$session'","model":"claude-sonnet-5-5"}'
spend() {
  calls=$((calls + 1))
  cents=$((cents + $1))
  echo "$SERVICE_RUN_ID $1 $(date +%s%3N)" >> spent
  echo '{"type":"assistant","session_id":"'$session'","message":{"id":"m'$calls'","model":"claude-sonnet-5-5","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":0,"output_tokens":'$(($1 * 1000))'}}}'
}
until_released() { while [ ! -e released ]; do sleep 1; done; }
${script}
echo '{"type":"result","subtype":"success","is_error":false,"session_id":"'$session'","total_cost_usd":'$(printf '0.%02d' $cents)',"usage":{"input_tokens":0,"output_tokens":'$((cents * 1000))'}}'
`

async function freePort(): Promise<number> {
  const found = createServer().listen(0, '127.0.0.1')
  await once(found, 'listening')
  const { port } = found.address() as { port: number }
  await new Promise((resolve) => found.close(resolve))
  return port
}
