import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listen } from '../../src/http/listener.ts'
import { createLog } from '../../src/platform/log.ts'
import { exchange, lines } from '../server.ts'

type Serve = Parameters<Awaited<ReturnType<typeof listen>>['serve']>[0]

/** Serves requests with a handler, and returns functions to send requests and read the log. */
async function serve(t: TestContext, fetch: Serve) {
  const logged: string[] = []
  const log = createLog((line) => logged.push(line))
  const listener = await listen({ host: '127.0.0.1', port: 0, portGiven: true, allowedHosts: [], log })
  t.after(() => listener.close())
  listener.serve(fetch)
  const get = async (target: string) => {
    const request = lines(`GET ${target} HTTP/1.1`, `Host: localhost:${listener.port}`)
    const [response] = await exchange(listener.port, request)
    return { status: response!.status, body: JSON.parse(response!.body) }
  }
  return { get, logged }
}

const failed = (code?: string) => Object.assign(new Error('a failure of the handler'), code ? { code } : {})

for (const [how, fetch] of [
  ['rejects', () => Promise.reject(failed())],
  [
    'throws synchronously',
    () => {
      throw failed()
    },
  ],
] as [string, Serve][]) {
  test(`a handler that ${how} returns an internal error and logs the stack`, async (t) => {
    const { get, logged } = await serve(t, fetch)
    const { status, body } = await get('/x')
    assert.deepEqual([status, body.code, body.error], [500, 'internal', 'Internal error.'])
    assert.equal(logged.length, 1)
    assert.match(logged[0]!, new RegExp(`${body.requestId}.*a failure of the handler.*listener\\.test\\.ts`))
  })
}

test('a database error outside the routes returns database_damaged and logs the stack', async (t) => {
  const { get, logged } = await serve(t, () => Promise.reject(failed('SQLITE_IOERR_READ')))
  const { status, body } = await get('/x')
  assert.deepEqual([status, body.code], [500, 'database_damaged'])
  assert.match(logged.join(''), /a failure of the handler.*listener\.test\.ts/)
})

test('a request target that is not a URL is a malformed request, not an internal error', async (t) => {
  const { get, logged } = await serve(t, () => ({ status: 200, headers: {}, body: '{}' }))
  const { status, body } = await get('/%zz\\x')
  assert.deepEqual([status, body.code], [400, 'malformed_request'])
  assert.deepEqual(logged, [])
})
