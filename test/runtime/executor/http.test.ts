import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { createTestRuns } from '../../runs.ts'

for (const credentials of ['body', 'header', 'none'] as const) {
  test(`an http agent with credentials ${credentials} can use the API during its request, and not afterwards`, async (t) => {
    const runs = await createTestRuns(t)
    const statuses: (number | undefined)[] = []
    let token: string | undefined
    const server = createServer(async (request, response) => {
      const body = JSON.parse((await request.toArray()).join(''))
      token = body.env?.SERVICE_API_KEY ?? request.headers['x-service-api-key']
      if (token) {
        const me = await runs.as(token)('GET', '/api/agents/me')
        statuses.push(me.status)
        assert.equal(me.body.id, body.agentId)
      }
      response.writeHead(200).end('done')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { id } = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
      name: 'Remote',
      adapterType: 'http',
      adapterConfig: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, credentials },
    })
    await runs.make('POST', `/api/agents/${id}/heartbeat/invoke`)
    await runs.runUntilIdle()
    assert.equal((await runs.runs())[0].status, 'succeeded')
    assert.deepEqual(statuses, credentials === 'none' ? [] : [200])
    if (token) assert.equal((await runs.as(token)('GET', '/api/agents/me')).status, 401, 'the run has ended')
  })
}

test('nothing is posted to a URL, and no program is started, that the board has not approved', async (t) => {
  const runs = await createTestRuns(t)
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const ceo = insertAgent(runs, { company_id: runs.companyId, role: 'ceo' })
  await runs.make('PATCH', `/api/companies/${runs.companyId}`, { requireBoardApprovalForNewAgents: false })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const hires = `/api/companies/${runs.companyId}/agent-hires`
  const http = { name: 'Remote', adapterType: 'http', adapterConfig: { url } }
  assert.equal((await ceo.request('POST', hires, http)).body.agent.status, 'pending_approval')

  const { agent } = (await ceo.request('POST', hires, { name: 'Sam' })).body
  const runOnce = async () => {
    await runs.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
    await runs.runUntilIdle()
    return (await runs.runs()).at(-1)
  }
  await runs.make('PATCH', `/api/agents/${agent.id}`, { adapterType: 'process', adapterConfig: { command: 'true' } })
  const program = await runOnce()
  assert.deepEqual([program.errorCode, program.startedAt], ['configuration_not_approved', null])
  await runs.make('PATCH', `/api/agents/${agent.id}`, { adapterType: 'http', adapterConfig: { url } })
  const run = await runOnce()
  assert.deepEqual([run.errorCode, run.startedAt, requests], ['configuration_not_approved', null, 0])
  assert.match(run.error, /has not approved the URL of Sam/)

  const [{ id: revisionId }] = await runs.make('GET', `/api/agents/${agent.id}/config-revisions`)
  await runs.make('POST', `/api/agents/${agent.id}/approve-configuration`, { revisionId })
  assert.deepEqual([(await runOnce()).status, requests], ['succeeded', 1])
})
