import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { insertAgent, insertCompany } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

/** Parses the samples: name with labels -> value. */
const samplesOf = (text: string) =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' ') + 1)),
      ]),
  )

test('the metrics count requests, writes, runs, waiting wakes and spend', async (t) => {
  const app = createTestApp(t)
  const companyId = insertCompany(app.ctx)
  const { id: agentId } = insertAgent(app, { company_id: companyId })
  await app.make('POST', `/api/companies/${companyId}/issues`, { title: 'One', assigneeAgentId: agentId })
  await app.request('GET', '/api/issues/nothing')
  await app.make('POST', `/api/companies/${companyId}/cost-events`, {
    agentId,
    provider: 'test',
    model: 'test',
    costCents: 125,
  })
  app.clock.move(30_000)
  const response = await app.request('GET', '/api/metrics')
  assert.deepEqual([response.status, /^text\/plain; version=/.test(response.headers.get('content-type')!)], [200, true])
  const samples = samplesOf(response.body)
  const count = (route: string, status: number) =>
    samples.get(`service_http_request_duration_seconds_count{route="${route}",status="${status}"}`)
  assert.deepEqual([count('issues.create', 201), count('issues.get', 404)], [1, 1])
  assert.ok(samples.get('service_write_batch_size_count')! >= 2)
  assert.equal(samples.get('service_wakes_waiting'), 1)
  assert.equal(samples.get('service_wakes_oldest_seconds'), 30)
  const spend = [...samples].filter(([name]) => name.startsWith('service_spend_dollars'))
  assert.deepEqual(
    spend.map(([, dollars]) => dollars),
    [1.25],
  )
  assert.ok(samples.get('service_disk_bytes{what="database"}')! > 0)
})

test('an agent may not read the metrics', async (t) => {
  const app = createTestApp(t)
  const agent = insertAgent(app, { company_id: insertCompany(app.ctx) })
  assert.equal((await agent.request('GET', '/api/metrics')).status, 403)
})

test('the Grafana dashboard uses only existing metrics', async (t) => {
  const app = createTestApp(t)
  await app.request('GET', '/api/metrics')
  const { body } = await app.request('GET', '/api/metrics')
  const known = new Set(
    [...body.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  )
  const dashboard = readFileSync(path.join(packageRoot(), 'docs', 'operations', 'grafana.json'), 'utf8')
  const named = new Set(dashboard.match(/service_[a-z_]+/g))
  assert.ok(named.size >= 8)
  assert.deepEqual(
    [...named].filter((name) => !known.has(name)),
    [],
  )
})
