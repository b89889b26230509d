import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createTestApp } from '../helpers.ts'
import { exchange, lines, startTestServer } from '../server.ts'

const REFUSED: { name: string; body: string; code: string; says: RegExp }[] = [
  { name: 'incomplete JSON', body: '{"name":', code: 'malformed_json', says: /not JSON/ },
  { name: 'an empty body', body: '', code: 'malformed_json', says: /empty/ },
  { name: 'only spaces', body: '  ', code: 'malformed_json', says: /not JSON/ },
  { name: 'a comment', body: '{"name":"x"} // y', code: 'malformed_json', says: /not JSON/ },
  { name: 'a NaN', body: '{"name":"x","budgetMonthlyCents":NaN}', code: 'malformed_json', says: /not JSON/ },
  { name: 'null', body: 'null', code: 'validation_failed', says: /Object/ },
  { name: 'a string', body: '"Acme"', code: 'validation_failed', says: /Object/ },
  { name: 'a number', body: '1', code: 'validation_failed', says: /Object/ },
  { name: 'an array', body: '[{"name":"x"}]', code: 'validation_failed', says: /name|field/ },
  { name: 'a missing field', body: '{}', code: 'validation_failed', says: /name: is required/ },
  {
    name: 'null in a string field',
    body: '{"name":null}',
    code: 'validation_failed',
    says: /name: expected string/,
  },
  { name: 'an unknown field', body: '{"name":"x","nmae":1}', code: 'validation_failed', says: /nmae: is not a field/ },
  {
    name: '__proto__',
    body: '{"name":"x","__proto__":{"a":1}}',
    code: 'validation_failed',
    says: /__proto__: is not a field/,
  },
  {
    name: 'an escaped __proto__',
    body: '{"name":"x","\\u005f_proto__":{}}',
    code: 'validation_failed',
    says: /__proto__: is not a field/,
  },
  {
    name: 'constructor',
    body: '{"name":"x","constructor":{"prototype":{"a":1}}}',
    code: 'validation_failed',
    says: /constructor: is not a field/,
  },
  { name: 'toString', body: '{"name":"x","toString":1}', code: 'validation_failed', says: /toString: is not a field/ },
  {
    name: 'a number out of range',
    body: '{"name":"x","budgetMonthlyCents":1e999}',
    code: 'validation_failed',
    says: /budgetMonthlyCents: is a number out of range/,
  },
  {
    name: 'a number over the maximum',
    body: '{"name":"x","budgetMonthlyCents":1e15}',
    code: 'validation_failed',
    says: /budgetMonthlyCents/,
  },
  {
    name: 'a negative amount',
    body: '{"name":"x","budgetMonthlyCents":-1}',
    code: 'validation_failed',
    says: /budgetMonthlyCents/,
  },
  {
    name: 'a fraction',
    body: '{"name":"x","budgetMonthlyCents":0.5}',
    code: 'validation_failed',
    says: /budgetMonthlyCents/,
  },
  { name: 'a lone surrogate', body: '{"name":"a\\ud800"}', code: 'validation_failed', says: /name: must be Unicode/ },
  { name: 'NUL', body: '{"name":"a\\u0000b"}', code: 'validation_failed', says: /name: must be Unicode/ },
  {
    name: 'a line break in a name',
    body: '{"name":"a\\nb"}',
    code: 'validation_failed',
    says: /name: must be one line/,
  },
  { name: 'a name of spaces', body: '{"name":"   "}', code: 'validation_failed', says: /name: must not be empty/ },
  {
    name: 'a name of 1 MB',
    body: `{"name":"${'x'.repeat(1024 * 1024)}"}`,
    code: 'validation_failed',
    says: /name: must be at most 200/,
  },
  {
    name: 'a field name of 1 MB',
    body: `{"name":"x","${'x'.repeat(1024 * 1024)}":1}`,
    code: 'validation_failed',
    says: /is not a field/,
  },
  {
    name: '10,000 levels of arrays',
    body: `{"name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    code: 'validation_failed',
    says: /nests deeper than 32 levels/,
  },
  {
    name: '10,000 levels of objects',
    body: `${'{"name":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    code: 'validation_failed',
    says: /nests deeper than 32 levels/,
  },
]

for (const { name, body, code, says: message } of REFUSED) {
  test(`refuses a body: ${name}`, async (t) => {
    const { request: send } = createTestApp(t)
    const response = await send('POST', '/api/companies', body)
    assert.equal(response.status, 400)
    assert.equal(response.body.code, code)
    assert.match(response.body.error, message)
    assert.ok(JSON.stringify(response.body).length < 2_000, 'what came in is not sent back whole')
    assert.equal(({} as { a?: unknown }).a, undefined)
    assert.deepEqual((await send('GET', '/api/companies')).body, [])
  })
}

test('the error names each unknown field, up to a limit', async (t) => {
  const { request: send } = createTestApp(t)
  const fields = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field${i}`, 1]))
  const { status, body } = await send('POST', '/api/companies', { name: 'Acme', ...fields })
  assert.equal(status, 400)
  assert.equal(body.details.fields.length, 20)
  assert.equal(body.details.fields[3].path, 'field3')
})

const NUMBERS = Array.from({ length: 80_000 }, (_, i) => i)

const COSTLY: { name: string; body: string; says: RegExp }[] = [
  {
    name: '80,000 unknown fields',
    body: `{${NUMBERS.map((i) => `"f${i}":1`).join()}}`,
    says: /more than 1,000 fields/,
  },
  { name: 'one field 80,000 times', body: `{${NUMBERS.map(() => '"a":1').join()}}`, says: /more than 1,000 fields/ },
  {
    name: '80,000 objects in a list',
    body: `{"name":[${NUMBERS.map(() => '{"a":1}').join()}]}`,
    says: /more than 1,000 fields/,
  },
  { name: '80,000 elements', body: `{"name":[${NUMBERS.join()}]}`, says: /more than 2,000 elements/ },
  {
    name: '80,000 empty lists',
    body: `{"name":[${NUMBERS.map(() => '[]').join()}]}`,
    says: /more than 2,000 elements/,
  },
  { name: '33 levels', body: `{"name":${'['.repeat(32)}${']'.repeat(32)}}`, says: /deeper than 32 levels/ },
]

for (const { name, body, says: message } of COSTLY) {
  test(`refuses a body with ${name} before validation, and states the limit`, async (t) => {
    const { request: send } = createTestApp(t)
    const response = await send('POST', '/api/companies', body)
    assert.equal(response.status, 400)
    assert.match(response.body.error, message)
  })
}

test('the contents of a string do not count toward the body limits', async (t) => {
  const { request: send } = createTestApp(t)
  const description = `\\"${':,{["'.repeat(4_000)}\\`
  const response = await send('POST', '/api/companies', { name: 'Acme', description })
  assert.equal(response.status, 201, JSON.stringify(response.body))
  assert.equal(response.body.description, description)
})

test('the last value of a duplicate field is used', async (t) => {
  const { request: send } = createTestApp(t)
  assert.equal((await send('POST', '/api/companies', '{"name":"One","name":"Two"}')).body.name, 'Two')
})

test('accepts a byte order mark', async (t) => {
  const { request: send } = createTestApp(t)
  assert.equal((await send('POST', '/api/companies', '\ufeff{"name":"Acme"}')).status, 201)
})

test('a body that is not valid UTF-8 is 400', async (t) => {
  const { port } = await startTestServer(t)
  const body = Buffer.from('{"name":"caf\xe9"}', 'latin1')
  const [response] = await exchange(port, Buffer.concat([head(port, `Content-Length: ${body.length}`), body]))
  assert.equal(response?.status, 400)
  assert.match(response?.body ?? '', /UTF-8/)
})

test('a body with a Content-Encoding is 415', async (t) => {
  const { port } = await startTestServer(t)
  for (const encoding of ['gzip', 'br', 'unknown']) {
    const [response] = await exchange(port, `${head(port, 'Content-Length: 2', `Content-Encoding: ${encoding}`)}{}`)
    assert.equal(response?.status, 415, encoding)
  }
})

test('a body over the limit is 413 with a Content-Length, in chunks, and without an end', {
  timeout: 10_000,
}, async (t) => {
  const { port, server } = await startTestServer(t, { bodyLimit: 1_000 })
  const chunk = `400\r\n${'x'.repeat(0x400)}\r\n`
  const requests = [
    head(port, 'Content-Length: 1001'),
    head(port, 'Content-Length: 99999999999999999999'),
    `${head(port, 'Content-Length: 1001')}${'x'.repeat(1001)}`,
    `${head(port, 'Transfer-Encoding: chunked')}${chunk}0\r\n\r\n`,
    `${head(port, 'Transfer-Encoding: chunked')}${chunk}`,
  ]
  for (const request of requests) {
    const [response] = await exchange(port, request)
    assert.ok(
      response?.status === 413 || (response?.status === 400 && request.includes('9999')),
      String(response?.status),
    )
  }
  assert.deepEqual(await (await fetch(`${server.url}/api/companies`)).json(), [])
})

test('accepts a body of exactly the limit, also in chunks', async (t) => {
  const { port } = await startTestServer(t, { bodyLimit: 100 })
  const body = JSON.stringify({ name: 'x'.repeat(89) })
  assert.equal(body.length, 100)
  const whole = await exchange(port, `${head(port, 'Content-Length: 100')}${body}`)
  const chunked = await exchange(port, `${head(port, 'Transfer-Encoding: chunked')}64\r\n${body}\r\n0\r\n\r\n`)
  assert.deepEqual([whole[0]?.status, chunked[0]?.status], [201, 201])
})

test('a keep-alive connection stays usable after a refused body', async (t) => {
  const { port } = await startTestServer(t, { bodyLimit: 1_000 })
  const own = `Host: localhost:${port}`
  const post = `POST /api/companies HTTP/1.1\r\n${own}\r\nContent-Type: application/json\r\n`
  const bytes = [
    `${post}Content-Length: 1001\r\n\r\n${'x'.repeat(1001)}`,
    `${post}Content-Length: 3\r\n\r\n{"}`,
    lines('GET /api/health HTTP/1.1', own),
  ]
  const responses = await exchange(port, bytes.join(''))
  assert.deepEqual(
    responses.map((response) => response.status),
    [413, 400, 200],
  )
})

test('a client that disconnects during its body causes no logged error', async (t) => {
  const { port, server, logged } = await startTestServer(t)
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${head(port, 'Content-Length: 100')}{"name"`, () => setImmediate(() => socket.destroy()))
    })
    socket.on('close', () => resolve())
  })
  await (await fetch(`${server.url}/api/health`)).text()
  assert.deepEqual(logged, [])
})

test('a GET with a body returns 200 and changes nothing', async (t) => {
  const { port, server } = await startTestServer(t)
  const request = lines('GET /api/companies HTTP/1.1', `Host: localhost:${port}`, 'Content-Length: 15')
  assert.equal((await exchange(port, `${request}{"name":"Acme"}`))[0]?.status, 200)
  assert.deepEqual(await (await fetch(`${server.url}/api/companies`)).json(), [])
})

const head = (port: number, ...fields: string[]) =>
  Buffer.from(
    lines('POST /api/companies HTTP/1.1', `Host: localhost:${port}`, 'Content-Type: application/json', ...fields),
  )

test('refuses an array for every field that requires an object', async (t) => {
  const { request: send, make } = createTestApp(t)
  const { id } = await make('POST', '/api/companies', { name: 'Acme' })
  const agents = `/api/companies/${id}/agents`
  const agent = await make('POST', agents, { name: 'Ada' })
  const faultsOf = async (method: string, path: string, body: unknown) => {
    const response = await send(method, path, body)
    assert.equal(response.status, 400, JSON.stringify(body))
    return response.body.details.fields.map((field: { path: string }) => field.path)
  }
  assert.deepEqual(await faultsOf('PATCH', `/api/agents/${agent.id}`, []), [''])
  assert.deepEqual(await faultsOf('POST', agents, { name: 'Bob', metadata: ['x'] }), ['metadata'])
  const heartbeat = { name: 'Bob', runtimeConfig: { heartbeat: [] }, metadata: [] }
  assert.deepEqual(await faultsOf('POST', agents, heartbeat), ['runtimeConfig.heartbeat', 'metadata'])
  assert.equal((await make('PATCH', `/api/agents/${agent.id}`, { metadata: { list: [] } })).metadata.list.length, 0)
})
