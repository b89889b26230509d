import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createApp } from '../../../src/app.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { logFolder, runFolder } from '../../../src/runtime/process/run-files.ts'
import { insertAgent, insertKey, insertRun } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { createTestRuns } from '../../runs.ts'
import { startTestServer } from '../../server.ts'

interface Frame {
  id: number
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of events.
  data: any
}

/** Follows the log of a run. `until` reads until an event meets the condition, and returns all events since the last call. */
async function follow(app: TestApp, path: string, headers: Record<string, string> = {}) {
  const response = await createApp(app.ctx, app.ctx.tokens).request(path, { headers })
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  const frames: Frame[] = []
  const until = async (isLast: (frame: Frame) => boolean): Promise<Frame[]> => {
    for (;;) {
      const last = frames.findIndex(isLast)
      if (last >= 0) return frames.splice(0, last + 1)
      const { value, done } = await reader.read()
      if (done) return frames.splice(0)
      rest += decoder.decode(value)
      const parts = rest.split('\n\n')
      rest = parts.pop()!
      for (const part of parts) {
        const [, id, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(part) ?? []
        if (type) frames.push({ id: Number(id), type, data: JSON.parse(data!) })
      }
    }
  }
  return { response, until, end: () => until(({ type }) => type === 'end'), close: () => reader.cancel() }
}

const textOf = (frames: Frame[]) => frames.map((frame) => frame.data.text ?? '').join('')

test('a log stream follows a growing log and ends with the result of the run', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await runs.agentThat('on-signal.js')
  await runs.make('POST', `/api/agents/${agentId}/wakeup`)
  await runs.tick()
  const [{ id }] = await runs.runs()
  const log = await follow(runs, `/api/runs/${id}/log/stream`)
  assert.match(log.response.headers.get('content-type') ?? '', /^text\/event-stream/)
  const heard = (text: string) => (frame: Frame) => frame.data.text?.includes(text)
  await log.until(heard('begun'))
  for (const name of ['one', 'two']) {
    writeFileSync(path.join(runs.config.dataDir, 'work', name), '')
    await log.until(heard(name))
  }
  writeFileSync(path.join(runs.config.dataDir, 'work', 'end'), '')
  const last = (await log.end()).at(-1)!
  assert.deepEqual([last.type, last.data.status, last.data.exitCode], ['end', 'succeeded', 0])
  assert.deepEqual(await log.until(() => false), [], 'the stream is over')
  const alias = await follow(runs, `/api/heartbeat-runs/${id}/events`, { accept: 'text/event-stream' })
  assert.equal(textOf(await alias.end()), 'begun\none\ntwo\nend\n')
})

test('without a stream the events of a run are returned as an ordered list', async (t) => {
  const runs = await createTestRuns(t)
  const agentId = await runs.agentThat('succeed.js')
  await runs.make('POST', `/api/agents/${agentId}/heartbeat/invoke`)
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  const path = `/api/heartbeat-runs/${run.id}/events`
  const { body, headers } = await runs.request('GET', path)
  assert.match(headers.get('content-type')!, /^application\/json/)
  const types = body.map(({ eventType }: { eventType: string }) => eventType)
  assert.deepEqual([types[0], types.at(-1)], ['run.started', 'run.finished'])
  assert.ok(body.every((event: { runId: string }) => event.runId === run.id))
  assert.deepEqual((await runs.request('GET', `${path}?afterSeq=${body[0].seq}`)).body, body.slice(1))
  assert.deepEqual((await runs.request('GET', `${path}?limit=1`)).body, body.slice(0, 1))
  assert.deepEqual((await runs.request('GET', `/api/runs/${run.id}/events`)).body, body)
})

/** Creates an app with a run and its log on disk. */
async function withLog(t: TestContext, text: string, isLive = false) {
  const app = createTestApp(t)
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  const agent = insertAgent(app, { company_id: company.id })
  const ending = isLive ? {} : ({ status: 'failed', finished_at: app.ctx.now, exit_code: 7 } as const)
  const { id } = await insertRun(app, agent, ending)
  const folder = logFolder(runFolder(app.config, id))
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'head'), text)
  return { app, agent, id, folder, path: `/api/runs/${id}/log/stream` }
}

test('a client that reconnects continues at the exact byte', async (t) => {
  const text = 'Größe: ü\n'.repeat(20_000)
  const { app, path } = await withLog(t, text)
  const whole = await (await follow(app, path)).end()
  assert.equal(textOf(whole), text)
  assert.ok(whole.length > 3, 'in parts')
  const again = await (await follow(app, path, { 'last-event-id': String(whole[1]!.id) })).end()
  assert.equal(textOf(again), textOf(whole.slice(2)))
  const requested = await (await follow(app, `${path}?offset=${whole[0]!.id}`)).end()
  assert.equal(textOf(requested), textOf(whole.slice(1)))
  const after = await (await follow(app, path, { 'last-event-id': String(whole.at(-1)!.id) })).end()
  assert.deepEqual([after.length, after[0]!.type, after[0]!.data.exitCode], [1, 'end', 7])
})

test('the stream of a run without output ends normally', async (t) => {
  const app = createTestApp(t)
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  const agent = insertAgent(app, { company_id: company.id })
  const { id } = await insertRun(app, agent)
  const log = await follow(app, `/api/runs/${id}/log/stream`)
  const end = log.end()
  await app.ctx.write(() => {
    app.ctx.db.run(sql.updateTable('run').set({ status: 'lost', finished_at: app.ctx.now }))
    const data = { entityId: id }
    app.ctx.afterCommit(() => app.ctx.events.publish(company.id, 'run.finished', () => data))
  })
  assert.deepEqual((await end)[0]?.data.status, 'lost')
})

test('the server does not read ahead of a client, and disconnects a client that does not read', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { app, path: stream, folder } = await withLog(t, '', true)
  for (let i = 0; i < 100; i++)
    writeFileSync(path.join(folder, i === 0 ? 'head' : `tail-${i * 65_536}`), 'x'.repeat(65_536))
  let dropped = 0
  const drop = () => void dropped++
  const response = await createApp(app.ctx, app.ctx.tokens).request(stream, {}, { drop })
  const reader = response.body!.getReader()
  await reader.read()
  for (let i = 0; i < 4; i++) {
    await new Promise(setImmediate)
    t.mock.timers.tick(15_000)
  }
  assert.equal(dropped, 1)
  let bytes = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value!.length
  assert.ok(bytes < 3 * 65_536, `${bytes} bytes were waiting`)
})

test('a stream ends if its client loses permission', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { app, agent, path } = await withLog(t, 'hello', true)
  const log = await follow(app, path, { authorization: `Bearer ${insertKey(app.ctx, agent).key}` })
  await log.until(({ type }) => type === 'log')
  app.ctx.db.run(sql.updateTable('agent_key').set({ revoked_at: app.ctx.now }))
  t.mock.timers.tick(15_000)
  assert.deepEqual(await log.until(() => false), [])
})

test('a stream whose log cannot be read ends, and its heartbeats end with it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { app, path: stream, folder } = await withLog(t, '', true)
  const response = await createApp(app.ctx, app.ctx.tokens).request(stream)
  const reader = response.body!.getReader()
  await reader.read()
  rmSync(path.join(folder, 'head'))
  mkdirSync(path.join(folder, 'head')) // reading a folder throws, like a process without free file descriptors
  t.mock.timers.tick(15_000)
  await assert.rejects(async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read());
  }, /EISDIR/)
  // A heartbeat of an ended stream is an unhandled rejection, which ends the server.
  for (let i = 0; i < 3; i++) {
    t.mock.timers.tick(15_000)
    await new Promise(setImmediate)
  }
})

test('a run of another company returns the same error as an unknown run', async (t) => {
  const { app, path } = await withLog(t, 'hello')
  const other = await app.make('POST', '/api/companies', { name: 'Other' })
  assert.equal((await insertAgent(app, { company_id: other.id }).request('GET', path)).status, 404)
})

test('stopping the server ends the streams', async (t) => {
  const { server, port } = await startTestServer(t)
  const ctx = Object.assign(server.ctx, { tokens: server.tokens, flush() {}, untilFree: async () => {} })
  const as = () => async () => ({ status: 0, headers: new Headers(), body: null })
  const reply = await fetch(`${server.url}/api/companies`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Acme"}',
  })
  const agent = insertAgent({ ctx, as }, { company_id: ((await reply.json()) as { id: string }).id })
  const { id } = await insertRun({ ctx, as }, agent)
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET /api/runs/${id}/log/stream HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  await once(socket, 'readable')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  ctx.db.run(sql.updateTable('run').set({ status: 'lost', finished_at: ctx.now }))
  await Promise.all([server.close(), once(socket, 'end')])
  assert.match(Buffer.concat(chunks).toString(), /0\r\n\r\n$/, 'the stream ends as it should, not broken off')
})
