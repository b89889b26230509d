import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createClient } from '../../../src/clients/connection/client.ts'
import { watchStream } from '../../../src/clients/connection/event-stream.ts'

/** Starts a server that returns the next of `answers` for each stream request. */
async function startStreams(t: TestContext, responses: ((response: ServerResponse) => void)[]) {
  const requested: (string | undefined)[] = []
  const server = createServer((request, response) => {
    requested.push(request.headers['last-event-id'] as string | undefined)
    responses[requested.length - 1]!(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked: requested, client: createClient({ url, token: 'svc_1' }) }
}

const stream = (text: string, end: 'end' | 'destroy') => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(text, () => (end === 'end' ? response.end() : response.destroy()))
}

test('a broken stream is resumed after the last event', async (t) => {
  const { asked: requested, client } = await startStreams(t, [
    stream('id: 1\n: watching\n\nid: 2\nevent: a\ndata: {"n":1}\n\nid: 3\nevent: hal', 'destroy'),
    (response) => {
      response.writeHead(503)
      response.end('{}')
    },
    stream('id: 3\nevent: b\ndata: {"n":2}\n\n', 'end'),
  ])
  const stopping = new AbortController()
  const seen: string[] = []
  for await (const { type, data } of watchStream(client, '/events', stopping)) {
    seen.push(type === 'a' || type === 'b' ? `${type}${data.n}` : type)
    if (type === 'b') stopping.abort()
  }
  assert.deepEqual(seen, ['open', 'position', 'a1', 'open', 'b2'])
  assert.deepEqual(requested, [undefined, '2', '2'])
})

test('an error response throws the error of the server', async (t) => {
  const { client } = await startStreams(t, [
    (response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"error":"No such run.","code":"not_found"}')
    },
  ])
  const watching = watchStream(client, '/events', new AbortController()).next()
  await assert.rejects(watching, { code: 'not_found', message: 'No such run.' })
})

test('a connection to a server that was never reachable is not retried', async () => {
  const client = createClient({ url: 'http://127.0.0.1:9' })
  await assert.rejects(watchStream(client, '/events', new AbortController()).next(), { exitCode: 3 })
})
