/**
 * Sends the slowest bodies to every endpoint with a body:
 * `npm run prove:bodies [-- --endpoint issues.create] [--limit 50]`.
 *
 * The app runs in this thread, so the CPU time of the thread during a request is
 * an upper bound of the time that the request blocks others. It uses CPU time, because other
 * programs on the machine do not affect it.
 */
import { type TestContext, test } from 'node:test'
import { parseArgs } from 'node:util'
import { createApp } from '../../src/app.ts'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import type { Endpoint } from '../../src/http/route.ts'
import { requestOf } from '../contract/requests.ts'
import { createWorld, type World } from '../contract/world.ts'
import { createTestApp } from '../helpers.ts'
import { worstBodies } from './worst-body.ts'

interface Slow {
  endpoint: string
  kind: string
  status: number
  ms: number
}

/** The request that takes the most CPU time of the thread, for each endpoint. */
export async function measureBodies(t: TestContext, only?: string): Promise<{ slowest: Slow[]; requests: number }> {
  const world = await createWorld(t, {}, createTestApp(t, { selfCheck: false }))
  world.approveStrategy()
  const app = createApp(world.ctx, world.ctx.tokens)
  const slowest: Slow[] = []
  let requests = 0
  for (const endpoint of ALL_ENDPOINTS) {
    if (!endpoint.body || endpoint.upload || endpoint.form || (only && !endpoint.id.startsWith(only))) continue
    let worst: Slow | undefined
    const request = async (path: string, text: string) => {
      const began = process.threadCpuUsage()
      const response = await app.request(path, {
        method: endpoint.method,
        body: text,
        headers: { 'content-type': 'application/json' },
      })
      await response.arrayBuffer()
      const { user, system } = process.threadCpuUsage(began)
      return { status: response.status, ms: (user + system) / 1_000 }
    }
    const { path, body = {} } = await goodRequest(world, endpoint)
    for (const { kind, text } of worstBodies(endpoint.body, body as object, limitsOf(endpoint, world))) {
      requests++
      let { status, ms } = await request(path, text)
      // The first request compiles code and may collect garbage.
      for (let again = 0; again < 2 && ms > 25; again++) ms = Math.min(ms, (await request(path, text)).ms)
      if (!worst || ms > worst.ms) worst = { endpoint: endpoint.id, kind, status, ms }
    }
    if (worst) slowest.push(worst)
  }
  return { slowest: slowest.toSorted((a, b) => b.ms - a.ms), requests }
}

const goodRequest = (world: World, { method, path }: Endpoint) => requestOf(world, method, path, 'board')

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
