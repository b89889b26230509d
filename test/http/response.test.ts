import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { ErrorAnswer } from '../../src/http/openapi.ts'
import { insertCompany } from '../arrange.ts'
import { createTestApp } from '../helpers.ts'

test('a read of one entity is 304 for a matching If-None-Match', async (t) => {
  const { ctx, request } = createTestApp(t)
  const path = `/api/companies/${insertCompany(ctx)}`
  const etag = (await request('GET', path)).headers.get('etag')!
  const known = [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag}`, '*']
  for (const tag of known) {
    const { status, body, headers } = await request('GET', path, undefined, { 'if-none-match': tag })
    assert.equal(status, 304, tag)
    assert.equal(body, '')
    assert.equal(headers.get('etag'), etag)
  }
  for (const tag of ['"other"', etag.slice(1, -1), '']) {
    assert.equal((await request('GET', path, undefined, { 'if-none-match': tag })).status, 200, tag)
  }
})

test('an ETag differs for different content', async (t) => {
  const { ctx, request } = createTestApp(t)
  const [one, other] = [insertCompany(ctx, 'One'), insertCompany(ctx, 'Other')]
  const etags = [one, other, one].map(async (id) => (await request('GET', `/api/companies/${id}`)).headers.get('etag'))
  const [first, second, again] = await Promise.all(etags)
  assert.notEqual(first, second)
  assert.equal(first, again)
})

test('HEAD returns the headers of GET and no body', async (t) => {
  const { request } = createTestApp(t)
  const { status, body, headers } = await request('HEAD', '/api/health')
  assert.equal(status, 200)
  assert.equal(body, '')
  assert.equal(headers.get('etag'), (await request('GET', '/api/health')).headers.get('etag'))
})

test('every response has a unique request id', async (t) => {
  const { request } = createTestApp(t)
  const paths = ['/api/health', '/api/companies', '/api/docs', '/nowhere', '/api/companies/nope']
  const ids = await Promise.all(paths.map(async (path) => (await request('GET', path)).headers.get('x-request-id')))
  for (const [i, id] of ids.entries()) assert.match(id ?? '', /^[0-9a-f-]{36}$/, paths[i])
  assert.equal(new Set(ids).size, paths.length)
})

test('every error has the same fields, and the request id of its header', async (t) => {
  const { request, as } = createTestApp(t)
  const responses = [
    await request('GET', '/nowhere'),
    await request('PUT', '/api/companies', {}),
    await request('GET', '/api/companies/nope'),
    await request('POST', '/api/companies', '{'),
    await request('POST', '/api/companies', { x: 1 }),
    await request('POST', '/api/companies', 'x', { 'content-type': 'text/plain' }),
    await as('wrong')('GET', '/api/companies'),
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [404, 405, 404, 400, 400, 415, 401],
  )
  for (const { body, headers } of responses) {
    v.parse(ErrorAnswer, body)
    assert.equal(body.requestId, headers.get('x-request-id'))
    assert.match(body.error, /^[A-Z].*\S$/s)
  }
})

test('an unknown path is 404, and an unsupported method is 405 with the supported methods', async (t) => {
  const { request } = createTestApp(t)
  for (const path of ['/api', '/api/', '/api/companies/', '/api/nothing', '/API/companies', '/api/companies/a/b/c']) {
    assert.equal((await request('GET', path)).status, 404, path)
  }
  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']) {
    const { status, headers, body } = await request(method, '/api/companies')
    assert.equal(status, 405, method)
    assert.deepEqual(headers.get('allow')?.split(', ').sort(), ['GET', 'POST'])
    assert.equal(body.code, 'method_not_allowed')
  }
})

test('the Link headers lead through all pages of a list of 1,100 rows, each row once', async (t) => {
  const { ctx, request } = createTestApp(t)
  const ids = Array.from({ length: 1_100 }, (_, i) => insertCompany(ctx, `Company ${i}`)).sort()
  const seen: string[] = []
  const sizes: number[] = []
  for (let next: string | undefined = '/api/companies?count=true'; next; ) {
    const { body, headers } = await request('GET', next)
    assert.equal(headers.get('x-total-count'), '1100')
    seen.push(...body.map((company: { id: string }) => company.id))
    sizes.push(body.length)
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
  }
  assert.deepEqual(sizes, [500, 500, 100])
  assert.deepEqual(seen, ids)
})

test('a page that ends with the last row has no next link', async (t) => {
  const { ctx, request } = createTestApp(t)
  for (let i = 0; i < 3; i++) insertCompany(ctx)
  const { body, headers } = await request('GET', '/api/companies?limit=3')
  assert.equal(body.length, 3)
  assert.equal(headers.get('link'), null)
  assert.equal(headers.get('x-total-count'), null)
  assert.equal((await request('GET', '/api/companies?limit=1000')).status, 200)
})

test('an invalid limit or cursor is 400, and the error names it', async (t) => {
  const { request } = createTestApp(t)
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const queries = {
    limit: ['0', '1001', 'abc', '-1', '1.5', '1e2', '', '99999999999999999999'],
    after: [
      'garbage',
      '!!',
      '',
      encoded('x'),
      encoded([]),
      encoded([1]),
      encoded(['a', 'b']),
      encoded({ 0: 'a' }),
      encoded([null]),
    ],
    count: ['yes'],
  }
  for (const [name, values] of Object.entries(queries)) {
    for (const value of values) {
      const { status, body } = await request('GET', `/api/companies?${name}=${encodeURIComponent(value)}`)
      assert.equal(status, 400, `${name}=${value}`)
      assert.equal(body.details.fields[0].path, name)
    }
  }
  assert.equal((await request('GET', '/api/companies?unknown=1&__proto__=2')).status, 200)
})
