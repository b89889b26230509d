import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { EndpointName } from '../../../src/api.ts'
import { type Client, createClient, type Fetch } from '../../../src/clients/client/client.ts'
import { UnexpectedResponse } from '../../../src/clients/client/error.ts'
import { AppError } from '../../../src/platform/errors.ts'
import { createTestApp } from '../../helpers.ts'

/** Creates a client of a real app, without a network. */
function createTestClient(t: TestContext): Client {
  const app = createTestApp(t)
  const fetch: Fetch = async (url, { method, headers, body }) => {
    const response = await app.request(method, url.slice('http://app.test'.length), body, headers)
    const isText = typeof response.body === 'string'
    return { ...response, text: async () => (isText ? response.body : JSON.stringify(response.body)) }
  }
  return createClient({ url: 'http://app.test', fetch })
}

const fetchOf =
  (status: number, type: string, text: string): Fetch =>
  async () => ({ status, headers: new Headers({ 'content-type': type }), text: async () => text })

test('a request takes parameters, query and body, and returns the body of the response', async (t) => {
  const client = createTestClient(t)
  const company = await client.request('POST /api/companies', { body: { name: 'Tern & Co' } })
  const companyId: string = company.id
  const issue = await client.request('POST /api/companies/:companyId/issues', {
    params: { companyId },
    body: { title: 'Paint the hull' },
  })
  assert.equal(issue.identifier, 'TER-1')
  const issues = await client.request('GET /api/companies/:companyId/issues', {
    params: { companyId },
    query: { q: 'hull & keel', limit: 5 },
  })
  assert.deepEqual(issues, [])
  const found = await client.request('GET /api/issues/:issueId', { params: { issueId: 'TER-1' } })
  assert.equal(found.title, 'Paint the hull')
})

test('a list is read page by page', async (t) => {
  const client = createTestClient(t)
  for (const name of ['Auk', 'Dunlin', 'Eider']) await client.request('POST /api/companies', { body: { name } })
  const first = await client.page('GET /api/companies', { query: { limit: 2, count: 'true' } })
  assert.deepEqual([first.items.length, first.total, typeof first.next], [2, 3, 'string'])
  const names: string[] = []
  let pages = 0
  for await (const { items } of client.pages('GET /api/companies', { query: { limit: 2 } })) {
    pages++
    names.push(...items.map(({ name }) => name))
  }
  assert.deepEqual([pages, names.toSorted()], [2, ['Auk', 'Dunlin', 'Eider']])
})

test('an error response throws the AppError of the server', async (t) => {
  const client = createTestClient(t)
  const missing = client.request('GET /api/issues/:issueId', { params: { issueId: 'TER-9' } })
  await assert.rejects(missing, (error) => error instanceof AppError && error.code === 'not_found')
  const invalid = client.request('POST /api/companies', { body: { name: '' } })
  await assert.rejects(invalid, (error) => {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'validation_failed')
    assert.equal((error.details as { fields: { path: string }[] }).fields[0]!.path, 'name')
    return true
  })
})

test('a response of 4xx or 5xx without a known error code throws UnexpectedResponse', async () => {
  const proxy = createClient({ url: 'http://app.test', fetch: fetchOf(502, 'text/html', '<h1>Bad gateway</h1>') })
  await assert.rejects(
    proxy.request('GET /api/companies'),
    (error) => error instanceof UnexpectedResponse && error.status === 502,
  )
  const body = JSON.stringify({ error: 'Too hot.', code: 'overheated' })
  const newer = createClient({ url: 'http://app.test', fetch: fetchOf(418, 'application/json', body) })
  await assert.rejects(newer.request('GET /api/companies'), { status: 418, code: 'overheated', message: 'Too hot.' })
})

test('the client sends the credential as a bearer token, and encodes path parameters', async () => {
  const sent: { url: string; headers: Record<string, string> }[] = []
  const fetch: Fetch = async (url, { headers }) => {
    sent.push({ url, headers })
    return { status: 200, headers: new Headers({ 'content-type': 'application/json' }), text: async () => '{}' }
  }
  const client = createClient({ url: 'http://app.test/', credential: 'svc_1', fetch })
  await client.request('GET /api/issues/:issueId', { params: { issueId: 'a/b?c' } })
  assert.deepEqual(sent, [{ url: 'http://app.test/api/issues/a%2Fb%3Fc', headers: { authorization: 'Bearer svc_1' } }])
})

// tsc checks these lines: each `@ts-expect-error` fails the type check if its line compiles. The function is never called.
export async function wrongRequests(client: Client): Promise<void> {
  // @ts-expect-error no such endpoint
  const name: EndpointName = 'GET /api/nothing'
  // @ts-expect-error no such endpoint
  await client.request('POST /api/approvals/:approvalId/nothing', { params: { approvalId: name } })
  // @ts-expect-error a parameter of the path is missing
  await client.request('GET /api/issues/:issueId')
  // @ts-expect-error a parameter of the path has another name
  await client.request('GET /api/issues/:issueId', { params: { id: '1' } })
  // @ts-expect-error a required field is missing
  await client.request('POST /api/companies', { body: {} })
  // @ts-expect-error a field has another name
  await client.request('POST /api/companies', { body: { title: 'Tern & Co' } })
  // @ts-expect-error an unknown field beside the right ones
  await client.request('POST /api/companies', { body: { name: 'Tern & Co', colour: 'red' } })
  // @ts-expect-error a field has another type
  await client.request('POST /api/companies', { body: { name: 1 } })
  // @ts-expect-error no such query parameter
  await client.request('GET /api/companies', { query: { page: '2' } })
  // @ts-expect-error this endpoint returns no list
  await client.page('GET /api/issues/:issueId', { params: { issueId: '1' } })
  const issue = await client.request('GET /api/issues/:issueId', { params: { issueId: '1' } })
  // @ts-expect-error the response has no such field
  issue.assignee
  // @ts-expect-error no such status
  if (issue.status === 'finished') return
}
