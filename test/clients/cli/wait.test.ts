import assert from 'node:assert/strict'
import { once } from 'node:events'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestServer } from '../../server.ts'
import { runCommand } from './in-process.ts'
import { spawnService } from './service.ts'

const AGENTS = path.join(import.meta.dirname, '../../agents')

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
type SendRequest = (method: string, path: string, body?: object) => Promise<any>

const askAt =
  (url: string): SendRequest =>
  async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${method} ${path} ${response.status}`)
    return response.json()
  }

/** Creates a company with an issue that is assigned to a person. */
async function makeIssue(request: SendRequest) {
  const company = await request('POST', '/api/companies', { name: 'Tern & Co' })
  const issue = { title: 'Draw', assigneeUserId: 'local-board', status: 'in_progress' }
  await request('POST', `/api/companies/${company.id}/issues`, issue)
  return company
}

/** Starts a server with such an issue. */
async function withIssue(t: TestContext) {
  const { server } = await startTestServer(t)
  const request = askAt(server.url)
  return { at: ['--url', server.url], request, company: await makeIssue(request) }
}

const waitFor = (t: TestContext, args: string[]) => spawnService(t, ['wait', 'TER-1', ...args])

test('wait exits when the issue reaches the status', async (t) => {
  const { at, request } = await withIssue(t)
  const waiting = waitFor(t, at)
  await request('PATCH', '/api/issues/TER-1', { status: 'in_review' })
  await request('PATCH', '/api/issues/TER-1', { status: 'done' })
  const { code, out } = await waiting.ended
  assert.deepEqual([code, out], [0, 'TER-1 is done: Draw\n'])
  assert.equal((await runCommand(t, ['wait', 'TER-1', ...at])).code, 0, 'and at once where it is there already')
})

test('wait exits when the issue can no longer reach the status, and at the timeout', async (t) => {
  const { at, request } = await withIssue(t)
  const late = await runCommand(t, ['wait', 'TER-1', '--timeout', '50ms', ...at])
  assert.deepEqual([late.code, late.err], [8, 'service: TER-1 is in progress after 0.05 s.\n'])
  const waiting = waitFor(t, at)
  await request('PATCH', '/api/issues/TER-1', { status: 'cancelled' })
  const { code, err } = await waiting.ended
  assert.deepEqual([code, err], [7, 'service: TER-1 is cancelled, so it will not be done.\n'])
  assert.equal((await runCommand(t, ['wait', 'TER-1', '--until', 'cancelled', ...at])).code, 0)
})

test('wait explains invalid arguments', async (t) => {
  const { at } = await withIssue(t)
  assert.equal((await runCommand(t, ['wait', 'TER-1', '--until', 'ready', ...at])).code, 2)
  assert.equal((await runCommand(t, ['wait', 'TER-1', '--timeout', 'soon', ...at])).code, 2)
  assert.equal((await runCommand(t, ['wait', 'TER-9', ...at])).code, 5)
  assert.equal((await runCommand(t, ['wait', 'TER-1', '--url', 'http://127.0.0.1:9'])).code, 3)
})

test('wait continues after a restart of the server', async (t) => {
  const first = await startTestServer(t)
  const request = askAt(first.server.url)
  await makeIssue(request)
  const { events } = first.server.ctx
  const watched = new Promise<void>((resolve) => {
    const { subscribe } = events
    events.subscribe = (...args) => {
      resolve()
      return subscribe(...args)
    }
  })
  const waiting = waitFor(t, ['--url', first.server.url])
  await watched
  await first.server.close()
  await startTestServer(t, { dataDir: first.dataDir, port: first.port, portGiven: true })
  await request('PATCH', '/api/issues/TER-1', { status: 'in_review' })
  await request('PATCH', '/api/issues/TER-1', { status: 'done' })
  const { code, out } = await waiting.ended
  assert.deepEqual([code, out], [0, 'TER-1 is done: Draw\n'])
})

async function withAgent(t: TestContext, program: string) {
  const app = await withIssue(t)
  const agent = await app.request('POST', `/api/companies/${app.company.id}/agents`, {
    name: 'Kit',
    adapterType: 'process',
    adapterConfig: { command: process.execPath, args: [path.join(AGENTS, program)], graceSec: 1 },
  })
  await app.request('POST', `/api/agents/${agent.id}/wakeup`)
  for (;;) {
    const [run] = await app.request('GET', `/api/companies/${app.company.id}/runs`)
    if (run) return { ...app, run }
  }
}

for (const [program, code] of [
  ['succeed.js', 0],
  ['fail.js', 1],
] as const) {
  test(`run follow of ${program} exits with ${code}`, async (t) => {
    const { at, run } = await withAgent(t, program)
    const followed = await runCommand(t, ['run', 'follow', run.id, ...at])
    assert.equal(followed.code, code, followed.err)
  })
}

test('run follow prints output immediately, and exits with 7 if the run is cancelled', async (t) => {
  const { at, request, run } = await withAgent(t, 'hang.js')
  const following = spawnService(t, ['run', 'follow', run.id, ...at])
  const [first] = await once(following.child.stdout!, 'data')
  assert.equal(String(first), 'working\n')
  await request('POST', `/api/runs/${run.id}/cancel`)
  const { code, err } = await following.ended
  assert.deepEqual([code, err], [7, 'service: The run ended as cancelled: Cancelled.\n'])
})
