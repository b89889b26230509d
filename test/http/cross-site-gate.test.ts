import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCrossSiteGate, hostsOf, SECURITY_HEADERS } from '../../src/http/cross-site-gate.ts'
import { listen } from '../../src/http/listener.ts'
import { createLog } from '../../src/platform/log.ts'
import { exchange, lines, type RawResponse, startTestServer } from '../server.ts'

interface Vector {
  name: string
  method?: string
  target?: string
  /** Header lines; PORT stands for the server's port. */
  headers: string[]
  /** The error code; undefined if the gate allows the request. */
  refused?: 'gate_refused' | 'validation_failed'
}

const host = 'Host: localhost:PORT'
const navigation = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']

const VECTORS: Vector[] = [
  { name: 'localhost', headers: [host] },
  { name: '127.0.0.1', headers: ['Host: 127.0.0.1:PORT'] },
  { name: 'the IPv6 loopback', headers: ['Host: [::1]:PORT'] },
  { name: 'a host in another case', headers: ['Host: LocalHost:PORT'] },
  { name: 'a configured name', headers: ['Host: service.example:PORT'] },
  { name: 'a configured name behind a proxy', headers: ['Host: service.example'] },
  { name: 'no Host', headers: [], refused: 'validation_failed' },
  { name: 'two Hosts', headers: [host, host], refused: 'validation_failed' },
  { name: 'two Hosts, one foreign', headers: [host, 'Host: evil.example'], refused: 'validation_failed' },
  { name: 'an empty Host', headers: ['Host:'], refused: 'gate_refused' },
  { name: 'a foreign Host', headers: ['Host: evil.example'], refused: 'gate_refused' },
  { name: 'a name rebound to loopback', headers: ['Host: rebound.evil.example:PORT'], refused: 'gate_refused' },
  { name: 'the right name on another port', headers: ['Host: localhost:1'], refused: 'gate_refused' },
  { name: 'the right name without its port', headers: ['Host: localhost'], refused: 'gate_refused' },
  { name: 'a trailing dot', headers: ['Host: localhost.:PORT'], refused: 'gate_refused' },
  {
    name: 'a name that starts with the own host',
    headers: ['Host: localhost:PORT.evil.example'],
    refused: 'gate_refused',
  },
  { name: 'user info in the Host', headers: ['Host: localhost:PORT@evil.example'], refused: 'gate_refused' },
  { name: 'another loopback address', headers: ['Host: 127.0.0.2:PORT'], refused: 'gate_refused' },
  {
    name: 'an absolute-form target',
    target: 'http://evil.example/api/health',
    headers: [host],
    refused: 'validation_failed',
  },
  {
    name: 'an absolute-form target with the own host',
    target: 'http://localhost:PORT/api/health',
    headers: [host],
    refused: 'validation_failed',
  },
  { name: 'an asterisk target', method: 'OPTIONS', target: '*', headers: [host], refused: 'validation_failed' },
  { name: 'the own Origin', headers: [host, 'Origin: http://localhost:PORT'] },
  { name: 'the own Origin by address', headers: [host, 'Origin: http://127.0.0.1:PORT'] },
  { name: 'a foreign Origin', headers: [host, 'Origin: https://evil.example'], refused: 'gate_refused' },
  { name: 'Origin null', headers: [host, 'Origin: null'], refused: 'gate_refused' },
  { name: 'an empty Origin', headers: [host, 'Origin:'], refused: 'gate_refused' },
  { name: 'another local port as Origin', headers: [host, 'Origin: http://localhost:1'], refused: 'gate_refused' },
  {
    name: 'an Origin that agrees with a foreign Host',
    headers: ['Host: a.evil', 'Origin: http://a.evil'],
    refused: 'gate_refused',
  },
  {
    name: 'two Origins',
    headers: [host, 'Origin: http://localhost:PORT', 'Origin: http://localhost:PORT'],
    refused: 'gate_refused',
  },
  {
    name: 'a list of Origins',
    headers: [host, 'Origin: http://localhost:PORT, https://evil.example'],
    refused: 'gate_refused',
  },
  { name: 'an extension as Origin', headers: [host, 'Origin: chrome-extension://abc'], refused: 'gate_refused' },
  { name: 'a request from the own page', headers: [host, 'Sec-Fetch-Site: same-origin'] },
  { name: 'a typed address', headers: [host, 'Sec-Fetch-Site: none'] },
  { name: 'a request from another site', headers: [host, 'Sec-Fetch-Site: cross-site'], refused: 'gate_refused' },
  { name: 'a request from another port', headers: [host, 'Sec-Fetch-Site: same-site'], refused: 'gate_refused' },
  { name: 'an unknown Sec-Fetch-Site', headers: [host, 'Sec-Fetch-Site: else'], refused: 'gate_refused' },
  {
    name: 'two Sec-Fetch-Site',
    headers: [host, 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'],
    refused: 'gate_refused',
  },
  { name: 'a link to the page from another site', target: '/', headers: [host, ...navigation] },
  { name: 'a link into the page from another site', target: '/WAL/issues?q=%41', headers: [host, ...navigation] },
  { name: 'a link to the API from another site', headers: [host, ...navigation], refused: 'gate_refused' },
  {
    name: 'a link to an escaped API path',
    target: '/%61pi/health',
    headers: [host, ...navigation],
    refused: 'gate_refused',
  },
  {
    name: 'a link to a dotted API path',
    target: '/x/../api/health',
    headers: [host, ...navigation],
    refused: 'gate_refused',
  },
  { name: 'a link to /api itself', target: '/api?x', headers: [host, ...navigation], refused: 'gate_refused' },
  {
    name: 'a form posted to the page from another site',
    method: 'POST',
    target: '/',
    headers: [host, ...navigation, 'Content-Length: 0'],
    refused: 'gate_refused',
  },
  {
    name: 'the page in a frame of another site',
    target: '/',
    headers: [host, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'],
    refused: 'gate_refused',
  },
  {
    name: 'X-Forwarded-Host with a foreign Host',
    headers: ['Host: evil.example', 'X-Forwarded-Host: localhost:PORT', 'Forwarded: host=localhost:PORT'],
    refused: 'gate_refused',
  },
  {
    name: 'a foreign X-Forwarded-Host',
    headers: [host, 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https'],
  },
  {
    name: 'a WebSocket from a foreign origin',
    headers: [
      host,
      'Origin: https://evil.example',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ],
    refused: 'gate_refused',
  },
  {
    name: 'a preflight from a foreign origin',
    method: 'OPTIONS',
    target: '/api/companies',
    headers: [host, 'Origin: https://evil.example', 'Access-Control-Request-Method: POST'],
    refused: 'gate_refused',
  },
]

for (const { name, method = 'GET', target = '/api/health', headers, refused } of VECTORS) {
  test(`the gate ${refused ? 'refuses' : 'allows'}: ${name}`, () => {
    const gate = createCrossSiteGate(hostsOf(3100, ['service.example']))
    const rawHeaders = headers.flatMap((line) => {
      const [field = '', ...value] = withPort(line, 3100).split(':')
      return [field, value.join(':').trim()]
    })
    assert.equal(gate({ method, target: withPort(target, 3100), rawHeaders })?.code, refused)
  })
}

test('a real server applies the gate to every request over a socket', async (t) => {
  const { port } = await startTestServer(t, { allowedHosts: ['service.example'] })
  for (const { name, method = 'GET', target = '/api/health', headers, refused } of VECTORS) {
    const request = lines(`${method} ${target} HTTP/1.1`, ...headers)
    const [response, ...more] = await exchange(port, withPort(request, port))
    assert.ok(response, name)
    assert.equal(more.length, 0, name)
    checkAlways(response, name)
    if (refused) {
      assert.equal(response.status, refused === 'gate_refused' ? 403 : 400, name)
      assert.equal(JSON.parse(response.body).code, refused, name)
    } else assert.ok(response.status === 200 || (target !== '/api/health' && response.status === 404), name)
  }
})

test('every response has security headers and a request id, and none has CORS headers', async (t) => {
  const { port } = await startTestServer(t)
  const own = `Host: localhost:${port}`
  const json = 'Content-Type: application/json'
  const send = async (...request: string[]) => {
    const [response] = await exchange(port, lines(...request))
    assert.ok(response, request.join(' | '))
    checkAlways(response, request.join(' | '))
    return response
  }
  const health = await send('GET /api/health HTTP/1.1', own)
  assert.equal(health.status, 200)
  const statuses = [
    (await send('HEAD /api/health HTTP/1.1', own)).status,
    (await send('GET /api/health HTTP/1.1', own, `If-None-Match: ${health.headers.get('etag')}`)).status,
    (await send('GET /nowhere HTTP/1.1', own)).status,
    (await send('DELETE /api/health HTTP/1.1', own)).status,
    (await send('OPTIONS /api/companies HTTP/1.1', own)).status,
    (await send('TRACE /api/health HTTP/1.1', own)).status,
    (await send('GET /api/docs HTTP/1.1', own)).status,
    (await send('GET /api/companies HTTP/1.1', own, 'Authorization: Bearer wrong')).status,
    (await send('GET /api/companies/%E0%A4%A HTTP/1.1', own)).status,
    (await send('GET /api/companies/%00 HTTP/1.1', own)).status,
    (await send('GET /a\\b HTTP/1.1', own)).status,
    (await send(`GET /${'x'.repeat(20_000)} HTTP/1.1`, own)).status,
    (await send(`GET /${'x'.repeat(10_000)} HTTP/1.1`, own)).status,
    (await send('GET /api/health HTTP/1.1', own, 'Expect: the-unexpected')).status,
    (await send('POST /api/companies HTTP/1.1', own, json, 'Content-Length: 99999999')).status,
    (await send('GARBAGE', own)).status,
  ]
  assert.deepEqual(statuses, [200, 304, 404, 405, 405, 405, 200, 401, 404, 404, 400, 431, 404, 200, 413, 400])
})

test('an internal error has the same headers and discloses no detail', async (t) => {
  const { server, port, logged } = await startTestServer(t)
  const { all } = server.ctx.db
  server.ctx.db.all = () => assert.fail('a secret of the inside')
  const [response] = await exchange(port, lines('GET /api/companies HTTP/1.1', `Host: localhost:${port}`))
  server.ctx.db.all = all
  assert.equal(response?.status, 500)
  checkAlways(response!, '500')
  assert.doesNotMatch(response!.body, /secret/)
  const { requestId } = JSON.parse(response!.body)
  assert.ok(logged.some((line) => line.includes(requestId) && line.includes('a secret of the inside')))
})

test('content types that browsers send without a CORS preflight are 415', async (t) => {
  const { port, server } = await startTestServer(t)
  const own = `Host: localhost:${port}`
  const body = '{"name":"Acme"}'
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'text/json',
  ]
  for (const type of [...types.map((type) => [`Content-Type: ${type}`]), []]) {
    const request = lines('POST /api/companies HTTP/1.1', own, ...type, `Content-Length: ${body.length}`) + body
    assert.equal((await exchange(port, request))[0]?.status, 415, type[0] ?? 'without a type')
  }
  assert.deepEqual(await (await fetch(`${server.url}/api/companies`)).json(), [])
})

test('refuses requests with ambiguous framing', async (t) => {
  const { port, server } = await startTestServer(t)
  const own = `Host: localhost:${port}`
  const json = 'Content-Type: application/json'
  const smuggled = `${lines('POST /api/companies HTTP/1.1', own, json, 'Content-Length: 17')}{"name":"Inside"}`
  const chunked = 'Transfer-Encoding: chunked'
  const requests = [
    `POST /api/companies HTTP/1.1\r\n${own}\r\n${json}\r\nContent-Length: 4\r\n${chunked}\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST /api/companies HTTP/1.1\r\n${own}\r\n${json}\r\nContent-Length: 4\r\nContent-Length: 0\r\n\r\n${smuggled}`,
    `POST /api/companies HTTP/1.1\r\n${own}\r\n${json}\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST /api/companies HTTP/1.1\r\n${own}\r\n${json}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST /api/companies HTTP/1.1\r\n${own}\r\n${json}\r\n${chunked}\r\n\r\nzz\r\n{}\r\n0\r\n\r\n${smuggled}`,
    `GET /api/health HTTP/1.1\n${own}\n\n`,
  ]
  for (const request of requests) {
    const responses = await exchange(port, request)
    assert.equal(responses.at(-1)?.status, 400, JSON.stringify(request))
    for (const response of responses) checkAlways(response, request)
  }
  assert.deepEqual(await (await fetch(`${server.url}/api/companies`)).json(), [])
})

test('refuses CONNECT', async (t) => {
  const { port } = await startTestServer(t)
  const responses = await exchange(port, `CONNECT localhost:${port} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  assert.ok(responses.every((response) => response.status >= 400))
})

test('disconnects a client that sends its headers too slowly', async (t) => {
  const patience = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 }
  const listener = await listen(
    { host: '127.0.0.1', port: 0, portGiven: true, allowedHosts: [], log: createLog(() => {}) },
    patience,
  )
  t.after(() => listener.close())
  listener.serve(() => ({ status: 200, headers: {}, body: 'served' }))
  const [response] = await exchange(listener.port, 'GET / HTTP/1.1\r\nHost: local')
  assert.equal(response?.status, 408)
  checkAlways(response!, 'a slow request')
})

test('HEAD returns the response of GET without the body', async (t) => {
  const { port } = await startTestServer(t)
  const [response] = await exchange(port, lines('HEAD /api/health HTTP/1.1', `Host: localhost:${port}`))
  assert.equal(response?.status, 200)
  assert.equal(response?.body, '')
  assert.match(response?.headers.get('etag') ?? '', /^"/)
})

const withPort = (text: string, port: number) => text.replaceAll('PORT', String(port))

function checkAlways({ headers, status }: RawResponse, name: string): void {
  for (const [field] of SECURITY_HEADERS) assert.ok(headers.get(field), `${name}: ${status} without ${field}`)
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, `${name}: ${status} without a request id`)
  for (const [field] of headers) assert.ok(!field.startsWith('access-control-'), `${name}: ${field}`)
}
