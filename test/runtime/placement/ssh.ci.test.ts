import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createLog } from '../../../src/platform/log.ts'
import { startServer } from '../../../src/server.ts'
import { startTestServer, type TestServer } from '../../server.ts'
import { hasSshd, type Sshd, startSshd } from './sshd.ts'

const AGENTS = path.resolve(import.meta.dirname, '../../agents')
const skip = hasSshd() ? false : 'needs sshd and root'

let folder: string
let sshd: Sshd

before(async () => {
  if (skip) return
  folder = mkdtempSync(path.join(tmpdir(), 'service-ssh-'))
  sshd = await startSshd(folder)
})
after(async () => {
  await sshd?.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
type Json = any

interface World extends TestServer {
  request(method: string, path: string, body?: object): Promise<Json>
  companyId: string
  /** Creates an agent in the placement `farm` that runs a program of test/agents. */
  agentThat(program: string, more?: object): Promise<Json>
  /** Waits until a run of the agent satisfies a condition. */
  until(agentId: string, is: (run: Json) => boolean): Promise<Json>
}

const environment = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/root' }

async function arrange(t: TestContext, settings: object = {}): Promise<World> {
  const started = await startTestServer(t, { environment })
  const send: World['request'] = async (method, where, body) => {
    const response = await fetch(`${started.server.url}${where}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const json = await response.json()
    assert.ok(response.ok, `${method} ${where}: ${JSON.stringify(json)}`)
    return json
  }
  const workdir = mkdtempSync(path.join(folder, 'work-'))
  await send('POST', '/api/placements', {
    name: 'farm',
    type: 'ssh',
    settings: { host: 'farm', sshConfig: sshd.configFile, workdir, node: process.execPath, ...settings },
  })
  const { id: companyId } = await send('POST', '/api/companies', { name: 'Acme' })
  return {
    ...started,
    request: send,
    companyId,
    async agentThat(program, more = {}) {
      const agent = await send('POST', `/api/companies/${companyId}/agents`, {
        name: program,
        adapterType: 'process',
        adapterConfig: { command: process.execPath, args: [path.join(AGENTS, program)], graceSec: 1, ...more },
        runtimeConfig: { placement: 'farm' },
      })
      await send('POST', `/api/agents/${agent.id}/heartbeat/invoke`, {})
      return agent
    },
    async until(agentId, is) {
      for (let tries = 0; tries < 600; tries++) {
        const runs: Json[] = await send('GET', `/api/companies/${companyId}/runs?agentId=${agentId}`)
        const found = runs.find(is)
        if (found) return found
        await delay(100)
      }
      const runs = await send('GET', `/api/companies/${companyId}/runs?agentId=${agentId}`)
      assert.fail(`${JSON.stringify(runs, null, 1)}\n${started.logged.join('')}`)
    },
  }
}

const isEnded = (run: Json) => run.finishedAt !== null

test('a run on a host reports its output and its exit, and leaves no files there', { skip }, async (t) => {
  const { request: send, agentThat, until, dataDir } = await arrange(t)
  const tested = await send('POST', '/api/placements/farm/test')
  assert.deepEqual(
    tested.checks.filter((check: Json) => !check.ok),
    [],
  )
  assert.equal(tested.ok, true)
  const agent = await agentThat('says-usage.js')
  const run = await until(agent.id, isEnded)
  assert.equal(run.status, 'succeeded', run.error)
  assert.equal(run.placement, 'farm')
  assert.ok(run.node)
  const log = await send('GET', `/api/runs/${run.id}/log?offset=0`)
  assert.ok(log.content?.length ?? log.text?.length, JSON.stringify(log))
  const [work] = readdirSync(folder)
    .filter((name) => name.startsWith('work-'))
    .slice(-1)
  assert.ok(work)
  assert.deepEqual(readdirSync(path.join(dataDir, 'runs')).length, 1)
})

test('a stop ends a run on a host within its grace period and five seconds', { skip }, async (t) => {
  const { request: send, agentThat, until } = await arrange(t)
  const agent = await agentThat('ignore-sigterm.js')
  const run = await until(agent.id, (one) => one.status === 'running')
  const begun = Date.now()
  await send('POST', `/api/runs/${run.id}/cancel`)
  const ended = await until(agent.id, isEnded)
  assert.equal(ended.status, 'cancelled')
  assert.ok(Date.now() - begun < 6_000, `${Date.now() - begun} ms`)
  assert.throws(() => execFileSync('pgrep', ['-f', `run ${run.id}`]), 'its shim is gone')
})

test('a run continues while the server is down, and its output of that time is recorded once', { skip }, async (t) => {
  const { server, agentThat, until, logged } = await arrange(t)
  const agent = await agentThat('counts.js')
  const run = await until(agent.id, (one) => one.status === 'running')
  await delay(500)
  const { config } = server.ctx
  await server.close()
  await delay(2_000)
  const port = Number(new URL(server.url).port)
  const next = await startServer(
    { ...config, port, portGiven: true },
    createLog((line) => logged.push(line)),
  )
  const ended = await until(agent.id, isEnded)
  assert.equal(ended.id, run.id, 'the same run')
  assert.equal(ended.status, 'succeeded', ended.error)
  const response = await fetch(`${next.url}/api/runs/${run.id}/log?offset=0`)
  const { content, text } = (await response.json()) as Json
  const lines = (content ?? text).split('\n').filter((line: string) => /^\d+$/.test(line))
  assert.deepEqual(
    lines,
    Array.from({ length: 50 }, (_, i) => String(i)),
  )
  await next.close()
})

for (const [what, settings, sentence] of [
  ['an unknown host key', { host: 'stranger' }, /host key of stranger is unknown/],
  ['a changed host key', { host: 'changed' }, /host key of changed has changed: the host was reinstalled/],
  ['a refused key', { host: 'locked' }, /locked refused the key/],
  ['an unreachable host', { host: 'nowhere.invalid' }, /nowhere.invalid cannot be reached/],
  ['a missing Node', { node: '/no/such/node' }, /Node program was not found there/],
  ['a folder that is not writable', { workdir: '/proc/nothing' }, /Cannot write to/],
] as const) {
  test(`${what} holds the agent with a clear error`, { skip }, async (t) => {
    const { agentThat, until, request: send } = await arrange(t, settings)
    const agent = await agentThat('succeed.js')
    const run = await until(agent.id, isEnded)
    assert.equal(run.errorCode, 'placement_unavailable')
    assert.match(run.error, sentence)
    const tested = await send('POST', '/api/placements/farm/test')
    assert.equal(tested.ok, false)
    assert.match(tested.checks.map((check: Json) => check.message).join('\n'), sentence)
  })
}

test('the forwarded port refuses requests without a run token', { skip }, async (t) => {
  const world = await arrange(t)
  const { server, agentThat, until } = world
  const agent = await agentThat('hang.js')
  await until(agent.id, (one) => one.status === 'running')
  const [{ tunnel_port: port }] = server.ctx.db.all({
    sql: 'select tunnel_port from placement',
    parameters: [],
  } as Json) as Json[]
  const send = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/api/companies`, { headers })
  assert.equal((await send({})).status, 401)
  assert.equal((await send({ authorization: 'Bearer svc_x' })).status, 401)
  assert.equal((await fetch(`http://127.0.0.1:${port}/api/health`)).status, 200)
  const [run] = await world.request('GET', `/api/companies/${world.companyId}/live-runs`)
  if (run) await world.request('POST', `/api/runs/${run.id}/cancel`)
  await until(agent.id, isEnded)
})

test('a repository is cloned for the issue, and the error for a missing program names the host', {
  skip,
}, async (t) => {
  const { request: send, companyId, until } = await arrange(t)
  const repository = mkdtempSync(path.join(folder, 'repo-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  git('init', '--quiet')
  writeFileSync(path.join(repository, 'readme'), 'hello from the clone\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  const project = await send('POST', `/api/companies/${companyId}/projects`, {
    name: 'P',
    workspace: { name: 'code', repoUrl: `ssh://farm${repository}` },
    placement: 'farm',
  })
  const make = (name: string, adapterConfig: object) =>
    send('POST', `/api/companies/${companyId}/agents`, {
      name,
      adapterType: 'process',
      adapterConfig: { ...adapterConfig, env: { GIT_SSH_COMMAND: `ssh -F ${sshd.configFile}` } },
    })
  const assign = (agentId: string) =>
    send('POST', `/api/companies/${companyId}/issues`, {
      title: 'Read',
      status: 'todo',
      projectId: project.id,
      assigneeAgentId: agentId,
    })
  const reader = await make('reader', { command: '/bin/cat', args: ['readme'] })
  await assign(reader.id)
  const read = await until(reader.id, isEnded)
  assert.equal(read.status, 'succeeded', read.error)
  const log = await send('GET', `/api/runs/${read.id}/log?offset=0`)
  assert.match(log.content ?? log.text, /hello from the clone/)
  const lacking = await make('lacking', { command: 'no-such-program-here' })
  await assign(lacking.id)
  const failed = await until(lacking.id, isEnded)
  assert.match(failed.error, /The program no-such-program-here was not found, on /)
})
