import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OrgNode, toOrg } from '../../../src/organization/agent/org.ts'
import { listOrgMembers } from '../../../src/organization/agent/queries.ts'
import { insertAgent, insertRunRow } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'

type Names = [string, Names[]]
const names = (nodes: OrgNode[]): Names[] => nodes.map((node) => [node.name, names(node.reports)])

test('the org chart is a tree of all agents that are not terminated', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const top = await makeAgent(app, companyId, { name: 'Top', role: 'ceo', title: 'Chief' })
  const a = await makeAgent(app, companyId, { name: 'A', reportsTo: top.id })
  await makeAgent(app, companyId, { name: 'B', reportsTo: top.id })
  await makeAgent(app, companyId, { name: 'A1', reportsTo: a.id })
  const gone = await makeAgent(app, companyId, { name: 'Gone', reportsTo: top.id })
  await app.make('POST', `/api/agents/${gone.id}/terminate`)
  await makeAgent(app, companyId, { name: 'Alone' })
  insertRunRow(app.ctx, top)
  const { status, body } = await app.request('GET', `/api/companies/${companyId}/org`)
  assert.equal(status, 200)
  assert.deepEqual(names(body), [
    [
      'Top',
      [
        ['A', [['A1', []]]],
        ['B', []],
      ],
    ],
    ['Alone', []],
  ])
  const { reports, ...node } = body[0]
  assert.equal(reports.length, 2)
  assert.deepEqual(node, { id: top.id, name: 'Top', role: 'ceo', title: 'Chief', status: 'running' })
})

test('the org chart contains each agent once, even with missing managers or a cycle', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  for (const name of ['A', 'B', 'C', 'D']) {
    await makeAgent(app, companyId, { name })
  }
  const rows = listOrgMembers(app.ctx.db, { companyId })
  const [a, b, c, d] = rows
  a!.reports_to = b!.id
  b!.reports_to = a!.id
  c!.reports_to = b!.id
  d!.reports_to = 'nobody'
  assert.deepEqual(names(toOrg(rows)), [
    ['D', []],
    ['A', [['B', [['C', []]]]]],
  ])
})

test('the reporting tree has at most 100 levels', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const chain: { id: string }[] = []
  for (let level = 1; level <= 100; level++)
    chain.push(insertAgent(app, { company_id: companyId, name: `L${level}`, reports_to: chain.at(-1)?.id ?? null }))
  const hire = (reportsTo: string) => ({
    name: 'Deep',
    role: 'engineer',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
    reportsTo,
  })
  const agents = `/api/companies/${companyId}/agents`
  const refused = await app.request('POST', agents, hire(chain[99]!.id))
  assert.equal(refused.status, 422)
  assert.match(refused.body.error, /below L100 the reporting tree would have more than 100 levels/)
  const pair = await app.make('POST', agents, hire(chain[97]!.id))
  const below = await app.make('POST', agents, hire(pair.id))
  // The pair has two levels, so it cannot move one level down.
  assert.equal((await app.request('PATCH', `/api/agents/${pair.id}`, { reportsTo: chain[98]!.id })).status, 422)
  assert.equal((await app.request('PATCH', `/api/agents/${below.id}`, { reportsTo: chain[98]!.id })).status, 200)
  // A cycle of all levels is found.
  const cycle = await app.request('PATCH', `/api/agents/${chain[0]!.id}`, { reportsTo: chain[99]!.id })
  assert.match(cycle.body.error, /L1 cannot report to L100, who reports to it/)
  assert.equal((await app.request('GET', `/api/companies/${companyId}/org`)).status, 200)
})

test('the org chart is also an SVG that escapes agent names', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  assert.equal((await app.request('GET', `/api/companies/${companyId}/org.svg`)).status, 200)
  const top = await makeAgent(app, companyId, { name: '<script>&' })
  await makeAgent(app, companyId, { name: 'A', reportsTo: top.id })
  await makeAgent(app, companyId, { name: 'B', reportsTo: top.id })
  const { status, headers, body } = await app.request('GET', `/api/companies/${companyId}/org.svg`)
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'image/svg+xml')
  assert.match(body, /&lt;script&gt;&amp;/)
  assert.doesNotMatch(body, /<script/)
  assert.equal(body.match(/<rect/g).length, 3)
  assert.equal(body.match(/<path/g).length, 2)
})
