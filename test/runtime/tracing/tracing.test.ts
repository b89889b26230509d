import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createOtlpTracer } from '../../../src/platform/otlp-tracer.ts'
import { parseTraceparent, spanOfId, toTraceparent } from '../../../src/platform/tracer.ts'
import { traceRuns } from '../../../src/runtime/tracing/run-spans.ts'
import { createTestApp } from '../../helpers.ts'
import { createTestRuns } from '../../runs.ts'

/** A span in the JSON form of OTLP. */
interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, unknown> }[]
  links: { traceId: string; spanId: string }[]
  status: { code: number; message?: string }
}

/** Starts a stand-in of a collector on loopback. */
async function startCollector(t: TestContext, status = 200) {
  const spans: OtlpSpan[] = []
  const requests: { path: string | undefined; serviceName: unknown }[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    for (const { resource, scopeSpans } of body.resourceSpans) {
      const name = resource.attributes.find(({ key }: { key: string }) => key === 'service.name')
      requests.push({ path: request.url, serviceName: name.value.stringValue })
      for (const scope of scopeSpans) spans.push(...scope.spans)
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { spans, requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const attribute = (span: OtlpSpan, key: string) =>
  Object.values(span.attributes.find((one) => one.key === key)?.value ?? {})[0]

test('a wake, its run and the requests of the run are one trace at the collector', async (t) => {
  const collector = await startCollector(t)
  const app = await createTestRuns(t)
  const tracer = createOtlpTracer(collector.url, app.config, app.ctx.log)
  app.ctx.tracer = tracer
  const end = traceRuns(app.ctx, tracer)
  const agentId = await app.agentThat('hang.js')
  await app.make('POST', `/api/agents/${agentId}/wakeup`, {})
  const running = app.next('run.running')
  await app.tick()
  await running
  const [run] = await app.runs()
  const { traceId, spanId } = spanOfId(run.id)

  const token = await app.ctx.tokens.sign({ id: run.id, agentId, companyId: app.companyId })
  const asRun = app.as(token)
  assert.equal((await asRun('GET', '/api/agents/me')).status, 200)
  // The program of a run traces its own work below the run.
  const own = { traceId, spanId: 'a1b2c3d4e5f60718' }
  assert.equal((await asRun('GET', '/api/agents/me', undefined, { traceparent: toTraceparent(own) })).status, 200)
  await app.make('POST', `/api/heartbeat-runs/${run.id}/cancel`)
  await app.executor.idle()
  end()
  await tracer.close()

  assert.deepEqual(collector.requests[0], { path: '/v1/traces', serviceName: 'service' })
  assert.deepEqual([...new Set(collector.spans.map((span) => span.traceId))], [traceId])
  const [wake, execution] = ['wake on_demand', 'invoke_agent'].map(
    (name) => collector.spans.find((span) => span.name.startsWith(name))!,
  )
  assert.equal(wake!.parentSpanId, undefined)
  assert.deepEqual([execution!.spanId, execution!.parentSpanId], [spanId, wake!.spanId])
  assert.equal(execution!.startTimeUnixNano, wake!.endTimeUnixNano)
  assert.equal(attribute(execution!, 'service.run.status'), 'cancelled')
  assert.equal(attribute(execution!, 'service.run.id'), run.id)
  const requests = collector.spans.filter(({ name }) => name === 'GET /api/agents/me')
  assert.deepEqual(
    requests.map((span) => [span.kind, span.parentSpanId, attribute(span, 'http.response.status_code')]),
    [
      [2, spanId, 200],
      [2, own.spanId, 200],
    ],
  )
})

test('the environment of a run has TRACEPARENT only if tracing is on', async (t) => {
  const app = await createTestRuns(t)
  const agentId = await app.agentThat('echo-env.js')
  const variables = async () => {
    const { environment } = await app.make('POST', `/api/agents/${agentId}/rehearse`, {})
    return JSON.stringify(environment)
  }
  assert.doesNotMatch(await variables(), /TRACEPARENT/)
  app.ctx.tracer = { record() {}, close: async () => {} }
  assert.match(await variables(), /TRACEPARENT/)
})

test('a request with a traceparent is a span of that trace, and one without is not recorded', async (t) => {
  const app = createTestApp(t)
  const recorded: { name: string; parent: unknown; links: readonly unknown[] }[] = []
  app.ctx.tracer = { record: (span) => recorded.push(span), close: async () => {} }
  const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  await app.request('GET', '/api/companies')
  await app.request('GET', '/api/companies', undefined, { traceparent: toTraceparent(parent) })
  await app.request('GET', '/api/companies', undefined, { traceparent: toTraceparent(parent).replace(/01$/, '00') })
  await app.as('wrong')('GET', '/api/companies', undefined, { traceparent: toTraceparent(parent) })
  assert.deepEqual(
    recorded.map(({ name, parent, links }) => ({ name, parent, links })),
    [{ name: 'GET /api/companies', parent, links: [] }],
  )
})

test('a traceparent is parsed as W3C Trace Context defines it', () => {
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-01`), { traceId, spanId })
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${spanId}-03-more`), { traceId, spanId })
  for (const invalid of [
    undefined,
    '',
    `00-${traceId}-${spanId}-00`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01x`,
  ])
    assert.equal(parseTraceparent(invalid), null, invalid)
})

test('a collector that rejects spans costs one line of the log, and no request fails', async (t) => {
  const collector = await startCollector(t, 400)
  const app = createTestApp(t)
  const tracer = createOtlpTracer(`${collector.url}/v1/traces`, app.config, app.ctx.log)
  app.ctx.tracer = tracer
  const traceparent = toTraceparent(spanOfId('0197c0de-0000-7000-8000-000000000001'))
  assert.equal((await app.request('GET', '/api/companies', undefined, { traceparent })).status, 200)
  await tracer.close()
  assert.equal(collector.requests.length, 1)
  assert.equal(app.logged.filter((line) => line.includes('Traces cannot be sent')).length, 1)
})
