import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCommands } from './in-process.ts'

test('agent approve-configuration displays what it approves, and approves only the reviewed revision', async (t) => {
  const { api, out, run } = await withCommands(t)
  const company = await api('POST', '/api/companies', { name: 'Tern' })
  const agent = await api('POST', `/api/companies/${company.id}/agents`, {
    name: 'Kit',
    adapterConfig: { model: 'm-1' },
  })
  const [first] = await api('GET', `/api/agents/${agent.id}/config-revisions`)
  await api('PATCH', `/api/agents/${agent.id}`, { adapterConfig: { model: 'm-2' } })
  const asked = await run('agent', 'approve-configuration', 'Kit')
  assert.match(asked.out, /"model": "m-2"/)
  assert.match(asked.err, /add --yes/)
  const refused = await run('agent', 'approve-configuration', 'Kit', '--revision', first.id, '--yes')
  assert.match(refused.err, /The configuration of Kit has changed/)
  assert.match(await out('agent', 'approve-configuration', 'Kit', '--yes'), /The configuration of Kit is approved/)
})
