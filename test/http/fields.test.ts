import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { name } from '../../src/http/fields.ts'
import { insertAgent, insertRun } from '../arrange.ts'
import { createTestApp } from '../helpers.ts'
import { makeCompany } from '../make.ts'

const REFUSED = ['\u0007', '\u007f', '\u0085', '\u009b', '\u061c', '\u200f', '\u2028', '\u202e', '\u2066', '\u2069']

for (const character of REFUSED) {
  const code = character.charCodeAt(0).toString(16)
  test(`refuses a name with U+${code.padStart(4, '0')}`, () => assert.equal(v.is(name, `Kit${character}tik`), false))
}

for (const text of ['Kit', 'Çağrı', 'שלום', 'مرحبا', '👩‍👩‍👧‍👦 Family', 'a\u200cb', '日本語']) {
  test(`accepts the name ${text}`, () => assert.equal(v.is(name, text), true))
}

test('a timestamp with an offset without minutes is 400, because Date cannot parse it', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  await app.make('POST', '/api/placements', { name: 'farm', type: 'ssh', settings: { host: 'farm' } })
  const agent = insertAgent(app, { company_id: companyId })
  const run = await insertRun(app, agent, { placement: 'farm' })
  const { id } = await app.make('POST', `/api/companies/${companyId}/projects`, { name: 'Atlas' })
  const [at, instance] = ['2027-01-31T00:00:00+01', '01a201f2-ac0a-7686-b150-64378011f54a']
  const cost = { provider: 'a', model: 'b', costCents: 1, occurredAt: at }
  for (const response of [
    await agent.request('POST', `/api/agents/${agent.id}/keys`, { expiresAt: at }),
    await agent.request('POST', `/api/companies/${companyId}/cost-events`, cost),
    await agent.request('GET', `/api/companies/${companyId}/activity?since=${encodeURIComponent(at)}`),
    await agent.request('PATCH', `/api/projects/${id}`, { archivedAt: at }),
    await run.request('POST', `/api/runs/${run.id}/bundle`, { instance, node: 'n', clock: at }),
    await run.request('POST', `/api/runs/${run.id}/report`, { instance, clock: at, parts: [], exit: null }),
  ]) {
    assert.equal(response.status, 400)
    assert.match(response.body.error, /must be a timestamp like 2027-01-31T00:00:00Z/)
  }
})
