import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
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
