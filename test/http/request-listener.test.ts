import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Handler } from '../../src/http/handler.ts'
import { createRequestListener } from '../../src/http/request-listener.ts'
import { createLog } from '../../src/platform/log.ts'
import { exchange, lines } from '../server.ts'

/** Serves a handler on a free port. */
async function serve(t: TestContext, handler: Handler) {
  const logged: string[] = []
  const log = createLog((line) => logged.push(line))
  const server = createServer({ joinDuplicateHeaders: true }, createRequestListener(handler, log))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, logged }
}

const LARGE = new Uint8Array(1024 * 1024)

/** Creates a stream without an end, and counts the chunks that were read. */
function endless() {
  const canceled = Promise.withResolvers<void>()
  const stream = { chunks: 0, canceled: canceled.promise }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        stream.chunks++
        controller.enqueue(LARGE)
      },
      cancel: () => canceled.resolve(),
    },
    { highWaterMark: 0 },
  )
  return { stream, body }
}

test('a response overrides a security header, and has each header once', async (t) => {
  const { port } = await serve(t, () => ({ status: 200, headers: { 'cache-control': 'private' }, body: 'é' }))
  const [response] = await exchange(port, lines('GET / HTTP/1.1', 'Host: x'))
  assert.equal(response?.headers.get('cache-control'), 'private')
  assert.equal(response.headers.get('x-frame-options'), 'DENY')
  assert.equal(response.headers.get('content-length'), '2')
})

test('a response without a body has the length 0, unless its status excludes a body', async (t) => {
  const { port } = await serve(t, ({ path }) => ({ status: Number(path.slice(1)), headers: {}, body: null }))
  const lengthOf = async (status: number) =>
    (await exchange(port, lines(`GET /${status} HTTP/1.1`, 'Host: x')))[0]?.headers.get('content-length')
  assert.deepEqual([await lengthOf(303), await lengthOf(204), await lengthOf(304)], ['0', null, null])
})

test('a header with a line break is an internal error, and splits no response', async (t) => {
  const { port, logged } = await serve(t, () => ({ status: 200, headers: { 'x-a': 'b\r\nx-c: d' }, body: 'x' }))
  const responses = await exchange(port, lines('GET / HTTP/1.1', 'Host: x'))
  assert.deepEqual(
    responses.map(({ status, headers }) => [status, headers.get('x-c')]),
    [[500, null]],
  )
  assert.match(logged.join(''), /Invalid character in header/)
})

test('a repeated header is one text with commas', async (t) => {
  const { port } = await serve(t, ({ header }) => ({ status: 200, headers: {}, body: header('authorization') ?? '' }))
  const request = lines('GET / HTTP/1.1', 'Host: x', 'Authorization: Bearer a', 'Authorization: Bearer b')
  assert.equal((await exchange(port, request))[0]?.body, 'Bearer a, Bearer b')
})

test('the server reads a stream only as fast as the client, and cancels it when the client disconnects', async (t) => {
  const { stream, body } = endless()
  const { port } = await serve(t, () => ({ status: 200, headers: {}, body }))
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  await once(socket, 'readable')
  let seen = -1
  // The buffers of both ends are full once no further chunk is read.
  while (seen !== stream.chunks) {
    seen = stream.chunks
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  }
  assert.ok(seen < 100, `${seen} MB were read ahead`)
  socket.destroy()
  await stream.canceled
})

test('a stream that fails closes the connection, so that the client does not take it as complete', async (t) => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('part')),
    pull: () => Promise.reject(new Error('broken')),
  })
  const { port } = await serve(t, () => ({ status: 200, headers: {}, body }))
  const [response] = await exchange(port, lines('GET / HTTP/1.1', 'Host: x'))
  assert.ok(!response?.body.endsWith('0\r\n\r\n'), response?.body)
})

test('HEAD cancels the stream of the response', async (t) => {
  const { stream, body } = endless()
  const { port } = await serve(t, () => ({ status: 200, headers: {}, body }))
  const [response] = await exchange(port, lines('HEAD / HTTP/1.1', 'Host: x'))
  await stream.canceled
  assert.deepEqual([response?.status, response?.body, stream.chunks], [200, '', 0])
})

test('the body of a client that disconnected after its request is received', async (t) => {
  const received = Promise.withResolvers<unknown>()
  const { port } = await serve(t, async (request) => {
    await disconnected
    received.resolve(request.readBody(100))
    return { status: 200, headers: {}, body: null }
  })
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody', () =>
      setImmediate(() => socket.destroy()),
    )
  })
  const disconnected = once(socket, 'close').then(() => new Promise((resolve) => setTimeout(resolve, 50)))
  assert.equal(String(await received.promise), 'body')
})

test('a client that disconnects during its body fails the read', async (t) => {
  const failed = Promise.withResolvers<unknown>()
  const { port } = await serve(t, async (request) => {
    await request.readBody(100).catch(failed.resolve)
    return { status: 200, headers: {}, body: null }
  })
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\nbody', () =>
      setImmediate(() => socket.destroy()),
    )
  })
  assert.match(String(await failed.promise), /ended early/)
})

test('a client that does not finish a refused body receives the response, and is disconnected', async (t) => {
  const { port } = await serve(t, () => ({ status: 401, headers: {}, body: 'no' }))
  const [response] = await exchange(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\nbody')
  assert.deepEqual([response?.status, response?.body], [401, 'no'])
})
