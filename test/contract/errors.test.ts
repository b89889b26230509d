import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import { ErrorAnswer } from '../../src/http/openapi.ts'
import type { Endpoint } from '../../src/http/route.ts'
import { methodFor, requestOf } from './requests.ts'
import { LINES } from './who-may.ts'
import { createWorld, type World } from './world.ts'

/** The contract's errors, of every route that can have them: the walk has 401 and 403 of each. */

const named = ({ method, path }: Endpoint) => `${method} ${path}`

/** What the board may do in local mode; what is for people who sign in is refused before it is looked at. */
const OPEN = ALL_ENDPOINTS.filter((endpoint) => LINES.get(named(endpoint))?.answers.board === 'ok')
const writing = OPEN.filter(({ method }) => method !== 'GET')

/** Fails unless an answer is an error of a status and in the one shape of errors. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely.
function isError(answer: { status: number; headers: Headers; body: any }, status: number, of: string) {
  assert.equal(answer.status, status, `${of}: ${JSON.stringify(answer.body)}`)
  const { error, requestId } = v.parse(ErrorAnswer, answer.body)
  assert.match(error, /[.:;]|^\S+ /, 'a sentence')
  assert.equal(requestId, answer.headers.get('x-request-id'))
}

test('400: no route that takes a body takes a misspelt field, one of a wrong type, or no JSON', async (t) => {
  const world = await createWorld(t)
  for (const endpoint of writing.filter(({ upload }) => !upload)) {
    const { path } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    for (const body of [{ tittle: 'x' }, [], 'null', '{"title":', '"x"', '{"__proto__":{"a":1}}', '{"a":"\\u0000"}']) {
      isError(await world.ask(endpoint.method, path, body), 400, `${named(endpoint)} ${JSON.stringify(body)}`)
    }
  }
})

test('400: each field at fault is named with its path', async (t) => {
  const world = await createWorld(t)
  const body = { name: '', role: 'No', runtimeConfig: { heartbeat: { intervalSec: 'x' } }, extra: 1 }
  const { details } = (await world.ask('POST', world.of('/agents'), body)).body
  assert.deepEqual(details.fields.map((field: { path: string }) => field.path).toSorted(), [
    'extra',
    'name',
    'role',
    'runtimeConfig.heartbeat.intervalSec',
  ])
})

test('400: an upload without its file, and 415: a body that is no JSON, or no form', async (t) => {
  const world = await createWorld(t)
  for (const endpoint of writing) {
    const { path } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    const wrong = endpoint.upload ? '{}' : new URLSearchParams({ title: 'x' }).toString()
    const type = endpoint.upload ? 'application/json' : 'application/x-www-form-urlencoded'
    isError(await world.ask(endpoint.method, path, wrong, { 'content-type': type }), 415, named(endpoint))
    if (endpoint.upload) isError(await world.ask(endpoint.method, path, new FormData()), 400, named(endpoint))
  }
})

/** The path of an endpoint with its last id unknown. */
async function unknownPath(world: World, { method, path }: Endpoint): Promise<string> {
  const filled = (await requestOf(world, method, path, 'board')).path.split('/')
  const at = path.split('/').findLastIndex((part) => /^:(\w+Id|token|page)$/.test(part))
  return filled.with(at, '01a1fc6c-8008-7511-bef0-e26dec99d66d').join('/')
}

test('404: an unknown id is one for every route, and so is one that is no id at all', async (t) => {
  const world = await createWorld(t)
  for (const endpoint of OPEN.filter(({ path }) => /:(\w+Id|token|page)(\/|$)/.test(path))) {
    const { body } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    const method = methodFor(endpoint.method, endpoint.path)
    const path = await unknownPath(world, endpoint)
    for (const unknown of [path, path.replace(/01a1fc6c[^/]*/, 'no%20id')]) {
      const answer = await world.ask(method, unknown, body)
      if (method === 'HEAD') assert.equal(answer.status, 404)
      else isError(answer, 404, `${named(endpoint)}: ${unknown}`)
    }
  }
})

test('404 and 405: a path and a method that are nowhere', async (t) => {
  const { ask } = await createWorld(t)
  isError(await ask('GET', '/api/nothing'), 404, 'a path')
  const answer = await ask('PUT', '/api/companies', {})
  isError(answer, 405, 'a method')
  assert.equal(answer.headers.get('allow'), 'GET, POST')
})

test('409: what another has, what is in use, and what stands there already', async (t) => {
  const world = await createWorld(t)
  const { ask, issue, thing, engineer, of } = world
  const taken = await issue({ assigneeAgentId: engineer.id, status: 'in_progress' })
  const checkout = { agentId: world.colleague.id }
  isError(await ask('POST', `/api/issues/${taken.id}/checkout`, checkout), 409, 'checkout of an issue of another')
  const done = await issue({ status: 'done' })
  isError(await ask('POST', `/api/issues/${done.id}/checkout`, checkout), 409, 'checkout from a status not expected')
  const goal = await thing('goals', { title: 'Know' })
  const project = await thing('projects', { name: 'Atlas', goalIds: [goal.id] })
  await issue({ projectId: project.id })
  isError(await ask('DELETE', `/api/goals/${goal.id}`), 409, 'deletion of a goal in use')
  isError(await ask('DELETE', `/api/projects/${project.id}`), 409, 'deletion of a project in use')
  await thing('labels', { name: 'sea' })
  isError(await ask('POST', of('/labels'), { name: 'sea' }), 409, 'a label of the same name')
})

test('422: a body that is well formed and cannot be done', async (t) => {
  const world = await createWorld(t)
  const { ask, issue, stranger, ceo, of, thing } = world
  const backlog = await issue({ status: 'backlog' })
  const approval = await thing('approvals', { type: 'approve_ceo_strategy', payload: { plan: 'Grow' } })
  await ask('POST', `/api/approvals/${approval.id}/reject`)
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
    isError(await ask(method, path, body), 422, `${method} ${path} ${JSON.stringify(body)}`)
  }
})
