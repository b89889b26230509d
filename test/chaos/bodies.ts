/**
 * Sends the slowest bodies to every endpoint with a body, and to /mcp:
 * `npm run prove:bodies [-- --endpoint issues.create] [--limit 50]`.
 *
 * The app runs in this thread, so the CPU time of the thread during a request is
 * an upper bound of the time that the request blocks others. It uses CPU time, because other
 * programs on the machine do not affect it.
 */
import { type TestContext, test } from 'node:test'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { anyone } from '../../src/access/caller/who.ts'
import { createApp } from '../../src/app.ts'
import { withMcp } from '../../src/clients/mcp/http.ts'
import { TOOLS } from '../../src/clients/mcp/tools.ts'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import { fetchFrom } from '../../src/http/in-process.ts'
import type { Endpoint } from '../../src/http/route.ts'
import { createFoundedApp } from '../access/auth/founder.ts'
import { PASSWORD } from '../access/auth/people.ts'
import { insertRun } from '../arrange.ts'
import { type Request, requestOf } from '../contract/requests.ts'
import { createWorld, type World } from '../contract/world.ts'
import { toForm, worstBodies, worstUploads } from './worst-body.ts'

interface Slow {
  endpoint: string
  kind: string
  status: number
  ms: number
}

/** A request to measure: its headers, and a body that the endpoint accepts. */
interface Target {
  path: string
  headers: Record<string, string>
  good: object
}

/** Measures each endpoint. @returns for each the request that takes the most CPU time of the thread */
export async function measureBodies(t: TestContext, only = ''): Promise<{ slowest: Slow[]; requests: number }> {
  const callers = await createCallers(t)
  const { ctx } = callers.world
  const request = fetchFrom(withMcp(ctx, createApp(ctx, ctx.tokens).handle))
  const slowest: Slow[] = []
  let requests = 0

  const send = async ({ path, headers }: Target, method: string, body: string | Uint8Array<ArrayBuffer>) => {
    const began = process.threadCpuUsage()
    const response = await request(path, { method, body, headers })
    await response.arrayBuffer()
    const { user, system } = process.threadCpuUsage(began)
    return { status: response.status, ms: (user + system) / 1_000 }
  }

  for (const endpoint of [...ALL_ENDPOINTS, ...TOOL_CALLS]) {
    if (!endpoint.body || !endpoint.id.startsWith(only)) continue
    const target = await callers.targetOf(endpoint)
    let worst: Slow | undefined
    for (const { kind, body } of bodiesOf(endpoint, target.good, callers.world)) {
      requests++
      let { status, ms } = await send(target, endpoint.method, body)
      // The first request compiles code and may collect garbage.
      for (let again = 0; again < 3 && ms > 25; again++)
        ms = Math.min(ms, (await send(target, endpoint.method, body)).ms)
      if (!worst || ms > worst.ms) worst = { endpoint: endpoint.id, kind, status, ms }
    }
    const isRefused = worst?.status === 403 || (worst?.status === 401 && !endpoint.who.includes(anyone))
    if (isRefused) throw new Error(`${endpoint.id} refuses the caller of this measurement.`)
    if (worst) slowest.push(worst)
  }
  return { slowest: slowest.toSorted((a, b) => b.ms - a.ms), requests }
}

/** The tools that are called at /mcp, with valid arguments. */
const TOOL_ARGUMENTS: Record<string, object> = {
  create_issue: { title: 'Draw' },
  list_issues: {},
  search: { query: 'tides' },
  hire_agent: { name: 'Ines' },
  ask_board: { issue: 'X-1', kind: 'question', title: 'Why?' },
  api_request: { method: 'POST', path: '/api/companies', body: {} },
}

/** The calls of these tools, in the form of endpoints. */
const TOOL_CALLS = TOOLS.filter(({ name }) => name in TOOL_ARGUMENTS).map(
  ({ name, input }) =>
    ({
      id: `mcp.${name}`,
      method: 'POST',
      path: '/mcp',
      bodyLimit: 1024 * 1024,
      who: [anyone],
      body: v.strictObject({
        jsonrpc: v.literal('2.0'),
        id: v.string(),
        method: v.string(),
        params: v.strictObject({ name: v.string(), arguments: input }),
      }),
    }) as unknown as Endpoint,
)

/**
 * Creates a world in authenticated mode, which has all endpoints, and the
 * callers that they need: the founder's session, and the token of a run in a
 * placement. Without rate limits, because they refuse a request before it is parsed.
 */
async function createCallers(t: TestContext) {
  const { app, founder, board } = await createFoundedApp(t, { selfCheck: false })
  Object.assign(app.ctx.signIn, { rates: { take: () => 0 } })
  const world = await createWorld(t, {}, board)
  // The bodies have the same texts in secret fields and in others.
  world.canaries.onlyMarked('a text that no body contains')
  world.approveStrategy()
  const member = await app.person('Mona', { [world.company.id]: 'member' })
  const farm = { name: 'farm', type: 'ssh', settings: { host: 'farm' } }
  await world.make('POST', '/api/placements', farm)
  const run = await insertRun(world, world.colleague, { placement: 'farm', status: 'starting', started_at: null })
  const runToken = await app.ctx.tokens.sign({ id: run.id, agentId: world.colleague.id, companyId: world.company.id })
  const instance = crypto.randomUUID()
  const clock = '2026-11-21T09:00:00.000Z'
  await run.request('POST', `/api/runs/${run.id}/bundle`, { instance, node: 'n', clock })
  const setup = () => app.ctx.signIn.setup?.token ?? 'used'
  const account = { name: 'Nora', email: 'nora@example.com', password: PASSWORD }

  /** The requests that are different from those of the contract. */
  const own: Record<string, Request> = {
    'members.update': {
      params: { companyId: world.company.id, userId: member.id },
      body: { role: 'member' },
    },
    'runs.claim': { params: { runId: run.id }, body: { instance, node: 'n', clock } },
    'runs.report': { params: { runId: run.id }, body: { instance, clock, parts: [], exit: null } },
    'session.makeResetLink': { body: { key: app.ctx.signIn.resets.key, email: founder.email } },
    'session.signIn': { body: { email: member.email, password: 'a wrong password' } },
    'session.changePassword': { body: { currentPassword: 'a wrong password', newPassword: 'long enough' } },
    'pages.signIn': { body: { email: member.email, password: 'a wrong password', next: '/' } },
    'pages.setUp': { body: { token: setup(), ...account } },
    'pages.accept': { body: { token: 'unknown', ...account } },
    'pages.resetPassword': { body: { token: 'unknown', email: member.email, password: PASSWORD } },
    'pages.changePassword': {
      body: { email: member.email, currentPassword: 'a wrong password', newPassword: 'long enough' },
    },
    'pages.createToken': { body: { name: 'ci' } },
    'pages.revokeToken': { body: { tokenId: 'unknown' } },
  }

  async function targetOf({ id, method, path, form, upload }: Endpoint): Promise<Target> {
    if (path === '/mcp') {
      const name = id.slice('mcp.'.length)
      const params = { name, arguments: TOOL_ARGUMENTS[name] }
      const headers = { cookie: founder.cookie, 'content-type': 'application/json' }
      return { path, headers, good: { jsonrpc: '2.0', id: 'a', method: 'tools/call', params } }
    }
    const request = await requestOf(world, method, path, 'board', own[id])
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
    const isOfRun = id === 'runs.claim' || id === 'runs.report'
    return {
      path: request.path,
      good: upload ? {} : ((request.body ?? {}) as object),
      headers: {
        ...(isOfRun ? { authorization: `Bearer ${runToken}` } : { cookie: founder.cookie }),
        'content-type': upload ? `multipart/form-data; boundary=${BOUNDARY}` : type,
      },
    }
  }
  return { world, targetOf }
}

const BOUNDARY = 'xxxxxxxx'

function* bodiesOf(
  endpoint: Endpoint,
  good: object,
  world: World,
): Generator<{ kind: string; body: string | Uint8Array<ArrayBuffer> }> {
  const limits = limitsOf(endpoint, world)
  if (endpoint.upload) {
    for (const { kind, bytes } of worstUploads(BOUNDARY, limits.bytes)) yield { kind, body: bytes }
    return
  }
  const sizes = endpoint.form ? FORM_LIMITS : limits
  for (const { kind, text } of worstBodies(endpoint.body!, good, sizes))
    yield { kind, body: endpoint.form ? toForm(text) : text }
}

/** A form has 64 KB, and each character may take three bytes. */
const FORM_LIMITS = { bytes: 24_000, fields: 100, elements: 1_000 }

const limitsOf = ({ bodyLimit, bodyFields = 1_000 }: Endpoint, world: World) => ({
  bytes: Math.min(bodyLimit ?? world.config.bodyLimit, 4 * 1024 * 1024),
  fields: Math.min(bodyFields, 20_000),
  elements: Math.min(2 * bodyFields, 40_000),
})

if (import.meta.main) {
  const { values } = parseArgs({
    options: { endpoint: { type: 'string' }, limit: { type: 'string', default: '50' } },
  })
  test('no request body blocks the main thread longer than the limit', { timeout: 3_600_000 }, async (t) => {
    const { slowest, requests } = await measureBodies(t, values.endpoint)
    for (const { endpoint, ms, status, kind } of slowest.slice(0, 40)) {
      t.diagnostic(`${ms.toFixed(1).padStart(7)} ms  ${status}  ${endpoint.padEnd(28)} ${kind}`)
    }
    t.diagnostic(`${requests} bodies, ${slowest.length} endpoints`)
    const over = slowest.filter(({ ms }) => ms > Number(values.limit))
    if (over.length > 0) throw new Error(`${over.length} endpoints take longer than ${values.limit} ms.`)
  })
}
