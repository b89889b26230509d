import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createApp } from '../../../src/app.ts'
import type { Context } from '../../../src/platform/context.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertAgentRow, insertCompany, insertKey, insertRunRow } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { startTestServer } from '../../server.ts'

/** Opens the event stream of a company. `next` resolves with the text received since the last call. */
function arrangeStream(t: TestContext) {
  const app = createTestApp(t)
  const companyId = insertCompany(app.ctx)
  const api = createApp(app.ctx, app.ctx.tokens)
  async function watch(headers: Record<string, string> = {}, id = companyId) {
    const response = await api.request(`/api/companies/${id}/events`, { headers })
    const reader = response.body!.getReader()
    const next = async () => new TextDecoder().decode((await reader.read()).value)
    return { response, next, reader, first: response.status === 200 ? await next() : '' }
  }
  const publish = (type: string, data: unknown = {}, id = companyId) =>
    app.ctx.write(() => app.ctx.afterCommit(() => app.ctx.events.publish(id, type, () => data)))
  return { ...app, companyId, watch, publish }
}

const idOf = (frame: string) => /^id: (\d+)$/m.exec(frame)![1]!

test('sends each event of a company immediately, with its id', async (t) => {
  const { watch, publish } = arrangeStream(t)
  const { response, first, next, reader } = await watch()
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(first, /^id: \d+\n: watching\n\n$/)
  await publish('issue.created', { n: 1 })
  assert.equal(await next(), `id: ${Number(idOf(first)) + 1}\nevent: issue.created\ndata: {"n":1}\n\n`)
  await reader.cancel()
})

test('an event contains the list fields of its entity and the name of its actor', async (t) => {
  const { watch, companyId, ctx, request, as } = arrangeStream(t)
  const agent = insertAgentRow(ctx, { company_id: companyId, name: 'Kit' })
  const { next, reader } = await watch()
  const asKit = as(insertKey(ctx, agent).key)
  const { body: issue } = await asKit('POST', `/api/companies/${companyId}/issues`, { title: 'Draw the curve' })
  const { entity, entityId, actorName } = JSON.parse(/^data: (.*)$/m.exec(await next())![1]!)
  assert.deepEqual([entityId, actorName], [issue.id, 'Kit'])
  assert.deepEqual(entity, {
    identifier: issue.identifier,
    title: 'Draw the curve',
    status: 'todo',
    priority: 'medium',
    assigneeAgentId: null,
  })
  assert.equal((await request('GET', `/api/issues/${issue.id}`)).body.status, 'todo')
  await reader.cancel()
})

test('sends only events of the requested company', async (t) => {
  const { ctx, watch, publish } = arrangeStream(t)
  const { next, reader } = await watch()
  await publish('issue.created', { of: 'another' }, insertCompany(ctx))
  await publish('issue.created', { of: 'this' })
  assert.match(await next(), /"of":"this"/)
  await reader.cancel()
})

test('never sends an event of a rolled-back write', async (t) => {
  const { ctx, watch, publish, companyId } = arrangeStream(t)
  const { next, reader } = await watch()
  const failing = ctx.write(() => {
    ctx.afterCommit(() => ctx.events.publish(companyId, 'lost', () => ({})))
    throw new Error('rolled back')
  })
  await assert.rejects(failing, /rolled back/)
  await publish('kept')
  assert.match(await next(), /event: kept/)
  await reader.cancel()
})

test('a client that reconnects receives exactly the events it missed', async (t) => {
  const { watch, publish } = arrangeStream(t)
  const { first, reader } = await watch()
  await reader.cancel()
  await publish('one')
  await publish('two')
  const again = await watch({ 'last-event-id': idOf(first) })
  assert.deepEqual(
    [...again.first.matchAll(/event: (\w+)/g)].map(([, type]) => type),
    ['one', 'two'],
  )
  await again.reader.cancel()
  const nothing = await watch({ 'last-event-id': String(Number(idOf(first)) + 2) })
  assert.match(nothing.first, /^id: \d+\n: watching\n\n$/)
  await nothing.reader.cancel()
})

test('sends a reset event to a client that reconnects too late or with an unknown event id', async (t) => {
  const { watch, publish } = arrangeStream(t)
  const { first, reader } = await watch()
  await reader.cancel()
  await Promise.all(Array.from({ length: 1_001 }, () => publish('many')))
  for (const id of [idOf(first), '1', '9999999999999999', 'garbage', '-1', '1e3', '99999999999999999999']) {
    const again = await watch({ 'last-event-id': id })
    assert.match(again.first, /^id: \d+\nevent: reset\ndata: \{\}\n\n$/, id)
    await again.reader.cancel()
  }
})

test('sends a keep-alive comment every 15 seconds on an idle stream', async (t) => {
  const { watch } = arrangeStream(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { next, reader } = await watch()
  for (let i = 0; i < 2; i++) {
    t.mock.timers.tick(15_000)
    assert.equal(await next(), ': alive\n\n')
  }
  await reader.cancel()
})

test('closes the event stream of a run when the run ends', async (t) => {
  const { ctx, companyId, watch } = arrangeStream(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const agentId = insertAgentRow(ctx, { company_id: companyId }).id
  const runId = insertRunRow(ctx, { id: agentId })
  const token = await ctx.tokens.sign({ id: runId, agentId, companyId })
  const { reader } = await watch({ authorization: `Bearer ${token}` })
  ctx.db.run(sql.updateTable('run').set({ status: 'succeeded', finished_at: ctx.now }))
  t.mock.timers.tick(15_000)
  assert.equal((await reader.read()).done, true)
})

test('an agent may read the event stream of its own company only', async (t) => {
  const { ctx, companyId, watch } = arrangeStream(t)
  const { key } = insertKey(ctx, insertAgentRow(ctx, { company_id: companyId }))
  const authorization = `Bearer ${key}`
  const own = await watch({ authorization })
  assert.equal(own.response.status, 200)
  await own.reader.cancel()
  assert.equal((await watch({ authorization }, insertCompany(ctx))).response.status, 403)
  assert.equal((await watch({}, 'nowhere')).response.status, 404)
})

test('HEAD leaves no event subscription open', async (t) => {
  const { ctx, request, companyId } = arrangeStream(t)
  const watchers = countWatchers(ctx)
  assert.equal((await request('HEAD', `/api/companies/${companyId}/events`)).status, 200)
  assert.deepEqual([watchers.came, watchers.now], [1, 0])
})

/** Counts the event subscriptions that are opened from now on. */
function countWatchers(ctx: Context) {
  const watchers = { came: 0, now: 0, onLeave: () => {} }
  const { subscribe } = ctx.events
  ctx.events.subscribe = (...args) => {
    watchers.came++
    watchers.now++
    const end = subscribe(...args)
    return () => {
      watchers.now--
      end()
      watchers.onLeave()
    }
  }
  return watchers
}

/** Opens an event stream on a paused socket, which reads nothing until it is resumed. */
async function watchBySocket(port: number, companyId: string) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET /api/companies/${companyId}/events HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

test('disconnects a client that reads too slowly, and frees its buffer', async (t) => {
  const { server, port } = await startTestServer(t)
  const { ctx } = server
  const companyId = insertCompany(ctx)
  const socket = await watchBySocket(port, companyId)
  const watchers = countWatchers(ctx)
  const slow = await watchBySocket(port, companyId)
  assert.equal(watchers.now, 1)
  const data = 'x'.repeat(64 * 1024)
  for (let sent = 0; watchers.now > 0; sent++) {
    assert.ok(sent < 1_000, 'the client reads nothing and is still served')
    ctx.events.publish(companyId, 'flood', () => data)
    await new Promise(setImmediate)
  }
  slow.resume()
  await once(slow, 'close')
  socket.destroy()
})

test('removes the event subscription of a client that disconnects', async (t) => {
  const { server, port } = await startTestServer(t)
  const watchers = countWatchers(server.ctx)
  const socket = await watchBySocket(port, insertCompany(server.ctx))
  const left = new Promise<void>((resolve) => {
    watchers.onLeave = resolve
  })
  socket.destroy()
  await left
  assert.equal(watchers.now, 0)
})

test('ends all event streams when the server stops', async (t) => {
  const { server, port, logged } = await startTestServer(t)
  const companyId = insertCompany(server.ctx)
  const socket = await watchBySocket(port, companyId)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const started = performance.now()
  await Promise.all([server.close(), once(socket, 'end')])
  assert.ok(performance.now() - started < 500)
  assert.match(Buffer.concat(chunks).toString(), /0\r\n\r\n$/, 'the stream ends as it should, not broken off')
  assert.deepEqual(logged, [])
})
