import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import { sql } from '../../src/platform/database/sql.ts'
import { insertAgent, insertRun } from '../arrange.ts'
import type { SendRequest } from '../helpers.ts'
import { methodFor, requestOf } from './requests.ts'
import { KINDS, type Kind, LINES } from './who-may.ts'
import { createWorld, type World } from './world.ts'

const all = [...LINES.values()]

const known = ALL_ENDPOINTS.map(({ method, path }) => `${method} ${path}`)

test('each endpoint has a line in the table of permissions, and each line has an endpoint', () => {
  const lines = all.map(({ method, path }) => `${method} ${path}`)
  const without = {
    line: known.filter((one) => !LINES.has(one)),
    endpoint: lines.filter((one) => !known.includes(one)),
  }
  assert.deepEqual(without, { line: [], endpoint: [] })
})

test('the table is sorted by path', () => {
  const paths = all.map(({ path }) => path)
  assert.deepEqual(paths, paths.toSorted())
})

const askOf = (world: World, kind: Kind): SendRequest =>
  ({
    other: world.stranger.request,
    IC: world.colleague.request,
    self: world.engineer.request,
    manager: world.manager.request,
    CEO: world.ceo.request,
    board: world.request,
  })[kind]

/** The body of a form of a page. */
const FORM = ['', { 'content-type': 'application/x-www-form-urlencoded' }] as const

const isForm = (method: string, path: string) =>
  ALL_ENDPOINTS.some((endpoint) => endpoint.form && endpoint.method === method && endpoint.path === path)

const classOf = (status: number) => (status < 300 ? 'ok' : String(status))

/** A world in which the CEO's strategy is approved. */
async function createWalkedWorld(t: TestContext): Promise<World> {
  const world = await createWorld(t)
  world.approveStrategy()
  // A manager and a CEO, so that only the company can be the reason of a refusal.
  insertAgent(world, { company_id: world.other.id, reports_to: world.stranger.id })
  return world
}

async function walk(
  t: TestContext,
  world: World,
  { method, path, answers: responses }: (typeof all)[number],
): Promise<void> {
  const got: Record<string, string> = {}
  for (const kind of KINDS) {
    const request = await requestOf(world, method, path, kind)
    const [content, headers] = isForm(method, path) ? FORM : [request.body]
    const { status, body } = await askOf(world, kind)(methodFor(method, path), request.path, content, headers)
    got[kind] = classOf(status)
    if (got[kind] !== responses[kind]) t.diagnostic(`${kind}: ${status} ${JSON.stringify(body)}`)
  }
  assert.deepEqual(got, responses)
}

const titleOf = ({ method, path }: (typeof all)[number]) =>
  `${method} ${path} answers each kind of caller as the table says`

test('every kind of caller reads every endpoint', async (t) => {
  const world = await createWalkedWorld(t)
  for (const line of all.filter(({ method }) => method === 'GET')) {
    await t.test(titleOf(line), (t) => walk(t, world, line))
  }
})

for (const line of all.filter(({ method }) => method !== 'GET')) {
  test(titleOf(line), async (t) => walk(t, await createWalkedWorld(t), line))
}

test('every endpoint refuses an invalid token', async (t) => {
  const world = await createWorld(t)
  const ended = await insertRun(world, world.ceo, { status: 'succeeded', finished_at: world.ctx.now })
  const { id, token } = await world.make('POST', `/api/agents/${world.ceo.id}/keys`)
  await world.make('DELETE', `/api/agents/${world.ceo.id}/keys/${id}`)
  const gone = insertAgent(world, { company_id: world.company.id, role: 'ceo', status: 'terminated' })
  const askers = { wrong: world.as('svc_wrong'), nonsense: world.as('x'), ended: ended.request }
  for (const [kind, send] of Object.entries({ ...askers, revoked: world.as(token), terminated: gone.request })) {
    for (const { method, path } of all) {
      const { status } = await send(
        methodFor(method, path),
        path.replace(':companyId', world.company.id),
        bodyFor(method),
      )
      assert.equal(status, 401, `${kind}: ${method} ${path}`)
    }
  }
  assert.equal(world.ctx.db.all(sql.selectFrom('company').select('id')).length, 2)
})

test('in authenticated mode every endpoint that is not open refuses a request without a token', async (t) => {
  const world = await createWorld(t)
  world.config.mode = 'authenticated'
  for (const { method, path, isOpen } of all) {
    const filled = path.replace(':companyId', world.company.id).replace(':page', 'errors')
    const { status } = await world.request(methodFor(method, path), filled, bodyFor(method))
    // An open endpoint still needs a valid request.
    assert.equal(status === 401, !isOpen, `${method} ${path}: ${status}`)
  }
})

const bodyFor = (method: string) => (method === 'GET' || method === 'DELETE' ? undefined : {})
