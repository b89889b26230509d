import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import { ErrorAnswer } from '../../src/http/openapi.ts'
import type { Endpoint } from '../../src/http/route.ts'
import { methodFor, requestOf } from './requests.ts'
import { LINES } from './who-may.ts'
import { createWorld, type World } from './world.ts'

/** The errors of the contract, for every endpoint that can return them. walk.test.ts tests 401 and 403. */

const named = ({ method, path }: Endpoint) => `${method} ${path}`

/** The endpoints for the board in local mode. Endpoints for people who sign in refuse the request before validation. */
const OPEN = ALL_ENDPOINTS.filter((endpoint) => LINES.get(named(endpoint))?.answers.board === 'ok')
const writing = OPEN.filter(({ method }) => method !== 'GET')

/** Fails unless a response has this status and the common shape of errors. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
function isError(response: { status: number; headers: Headers; body: any }, status: number, of: string) {
  assert.equal(response.status, status, `${of}: ${JSON.stringify(response.body)}`)
  const { error, requestId } = v.parse(ErrorAnswer, response.body)
  assert.match(error, /[.:;]|^\S+ /, 'a sentence')
  assert.equal(requestId, response.headers.get('x-request-id'))
}

test('400: every endpoint with a body refuses an unknown field, a field of a wrong type, and a body that is not JSON', async (t) => {
  const world = await createWorld(t)
  for (const endpoint of writing.filter(({ upload }) => !upload)) {
    const { path } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    for (const body of [{ tittle: 'x' }, [], 'null', '{"title":', '"x"', '{"__proto__":{"a":1}}', '{"a":"\\u0000"}']) {
      isError(await world.request(endpoint.method, path, body), 400, `${named(endpoint)} ${JSON.stringify(body)}`)
    }
  }
})

test('400: the error names the path of each invalid field', async (t) => {
  const world = await createWorld(t)
  const body = { name: '', role: 'No', runtimeConfig: { heartbeat: { intervalSec: 'x' } }, extra: 1 }
  const { details } = (await world.request('POST', world.of('/agents'), body)).body
  assert.deepEqual(details.fields.map((field: { path: string }) => field.path).toSorted(), [
    'extra',
    'name',
    'role',
    'runtimeConfig.heartbeat.intervalSec',
  ])
})

test('400: an upload without a file; 415: a body with another content type than JSON or a form', async (t) => {
  const world = await createWorld(t)
  for (const endpoint of writing) {
    const { path } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    const wrong = endpoint.upload ? '{}' : new URLSearchParams({ title: 'x' }).toString()
    const type = endpoint.upload ? 'application/json' : 'application/x-www-form-urlencoded'
    isError(await world.request(endpoint.method, path, wrong, { 'content-type': type }), 415, named(endpoint))
    if (endpoint.upload) isError(await world.request(endpoint.method, path, new FormData()), 400, named(endpoint))
  }
})

/** Returns the path of an endpoint with an unknown last id. */
async function unknownPath(world: World, { method, path }: Endpoint): Promise<string> {
  const filled = (await requestOf(world, method, path, 'board')).path.split('/')
  const at = path.split('/').findLastIndex((part) => /^:(\w+Id|token|page)$/.test(part))
  return filled.with(at, '01a1fc6c-8008-7511-bef0-e26dec99d66d').join('/')
}

test('404: every endpoint with an id refuses an unknown id and a text that is not an id', async (t) => {
  const world = await createWorld(t)
  for (const endpoint of OPEN.filter(({ path }) => /:(\w+Id|token|page)(\/|$)/.test(path))) {
    const { body } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    const method = methodFor(endpoint.method, endpoint.path)
    const path = await unknownPath(world, endpoint)
    for (const unknown of [path, path.replace(/01a1fc6c[^/]*/, 'no%20id')]) {
      const response = await world.request(method, unknown, body)
      if (method === 'HEAD') assert.equal(response.status, 404)
      else isError(response, 404, `${named(endpoint)}: ${unknown}`)
    }
  }
})

test('404: an unknown path; 405: an unknown method of a known path', async (t) => {
  const { request } = await createWorld(t)
  isError(await request('GET', '/api/nothing'), 404, 'a path')
  const response = await request('PUT', '/api/companies', {})
  isError(response, 405, 'a method')
  assert.equal(response.headers.get('allow'), 'GET, POST')
})

test('409: an issue of another agent, a row in use, and an existing row', async (t) => {
  const world = await createWorld(t)
  const { request, issue, thing, engineer, of } = world
  const taken = await issue({ assigneeAgentId: engineer.id, status: 'in_progress' })
  const checkout = { agentId: world.colleague.id }
  isError(await request('POST', `/api/issues/${taken.id}/checkout`, checkout), 409, 'checkout of an issue of another')
  const done = await issue({ status: 'done' })
  isError(
    await request('POST', `/api/issues/${done.id}/checkout`, checkout),
    409,
    'checkout from a status not expected',
  )
  const goal = await thing('goals', { title: 'Know' })
  const project = await thing('projects', { name: 'Atlas', goalIds: [goal.id] })
  await issue({ projectId: project.id })
  isError(await request('DELETE', `/api/goals/${goal.id}`), 409, 'deletion of a goal in use')
  isError(await request('DELETE', `/api/projects/${project.id}`), 409, 'deletion of a project in use')
  await thing('labels', { name: 'sea' })
  isError(await request('POST', of('/labels'), { name: 'sea' }), 409, 'a label of the same name')
})

test('422: a valid body that the server cannot apply', async (t) => {
  const world = await createWorld(t)
  const { request, issue, stranger, ceo, of, thing } = world
  const backlog = await issue({ status: 'backlog' })
  const approval = await thing('approvals', { type: 'approve_ceo_strategy', payload: { plan: 'Grow' } })
  await request('POST', `/api/approvals/${approval.id}/reject`)
  const cases: readonly [string, string, object][] = [
    ['PATCH', `/api/issues/${backlog.id}`, { status: 'done' }],
    ['PATCH', `/api/issues/${backlog.id}`, { assigneeAgentId: stranger.id }],
    ['PATCH', `/api/issues/${backlog.id}`, { parentId: backlog.id }],
    ['POST', of('/issues'), { title: 'x', status: 'in_progress' }],
    ['POST', of('/issues'), { title: 'x', projectId: 'nothing' }],
    ['POST', of('/agents'), { name: 'x', reportsTo: stranger.id }],
    ['PATCH', `/api/agents/${ceo.id}`, { reportsTo: world.engineer.id }],
    ['POST', `/api/approvals/${approval.id}/approve`, {}],
    ['PATCH', of(''), { logoAssetId: approval.id }],
    ['DELETE', of(''), { confirm: 'Puffin' }],
  ]
  for (const [method, path, body] of cases) {
    isError(await request(method, path, body), 422, `${method} ${path} ${JSON.stringify(body)}`)
  }
})
