import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertAgent, insertCompany, insertRun } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

test('whoami returns the identity of each kind of caller', async (t) => {
  const app = createTestApp(t)
  const agent = insertAgent(app, { company_id: insertCompany(app.ctx), name: 'Ada', role: 'cto' })
  const run = await insertRun(app, agent)
  const ofAgent = { type: 'agent', name: 'Ada', role: 'cto', agentId: agent.id, companyId: agent.company_id }
  const person = { userId: null, email: null, memberships: [] }
  assert.deepEqual((await agent.request('GET', '/api/whoami')).body, {
    ...ofAgent,
    ...person,
    via: 'agent_key',
    runId: null,
  })
  assert.deepEqual((await run.request('GET', '/api/whoami')).body, {
    ...ofAgent,
    ...person,
    via: 'run_token',
    runId: run.id,
  })
  const board = (await app.request('GET', '/api/whoami')).body
  assert.deepEqual([board.type, board.via, board.userId, board.agentId], ['user', 'local', 'local-board', null])
})
