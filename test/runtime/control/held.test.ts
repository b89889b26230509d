import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertAgent, insertCompany } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

test('a manual wake returns the reason why its run cannot start', async (t) => {
  const app = createTestApp(t)
  const agent = insertAgent(app, { company_id: insertCompany(app.ctx), name: 'Ada' })
  const invoke = () => app.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
  assert.deepEqual((await invoke()).heldBy, [])
  await app.make('POST', '/api/instance/freeze')
  await app.make('PATCH', `/api/companies/${agent.company_id}`, { status: 'paused' })
  const held: { code: string; effect: string }[] = (await invoke()).heldBy
  assert.deepEqual(
    held.map(({ code, effect }) => [code, effect]),
    [
      ['frozen', 'waits'],
      ['company_status', 'waits'],
    ],
  )
})

test('the adapter names and the key scope of similar APIs are accepted', async (t) => {
  const app = createTestApp(t)
  const company = insertCompany(app.ctx)
  const create = (adapterType: string) =>
    app.make('POST', `/api/companies/${company}/agents`, { name: 'Ada', adapterType })
  const claude = await create('claude_local')
  assert.equal(claude.adapterType, 'runtimeA_local')
  assert.equal((await create('codex_local')).adapterType, 'runtimeB_local')
  assert.ok((await app.make('POST', `/api/agents/${claude.id}/keys`, { scope: { kind: 'standard' } })).token)
  const other = await app.request('POST', `/api/agents/${claude.id}/keys`, { scope: { kind: 'admin' } })
  assert.equal(other.status, 400)
})
