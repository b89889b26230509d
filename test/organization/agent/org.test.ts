import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OrgNode, toOrg } from '../../../src/organization/agent/org.ts'
import { findAgentWithFacts } from '../../../src/organization/agent/queries.ts'
import { insertRunRow } from '../../arrange.ts'
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
  const rows = []
  for (const name of ['A', 'B', 'C', 'D']) {
    const { id } = await makeAgent(app, companyId, { name })
    rows.push(findAgentWithFacts(app.ctx.db, { id, now: app.ctx.now })!)
  }
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
