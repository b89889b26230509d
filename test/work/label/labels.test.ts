import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { setUp } from '../issue/set-up.ts'

test('any agent of the company can create labels, which are listed by name in pages', async (t) => {
  const { make, request, bob, company, activity } = await setUp(t)
  const path = `/api/companies/${company.id}/labels`
  const urgent = await make('POST', path, { name: 'urgent', color: '#ff0000' })
  const bug = (await bob.request('POST', path, { name: 'bug' })).body
  assert.deepEqual(urgent, { id: urgent.id, companyId: company.id, name: 'urgent', color: '#ff0000' })
  assert.deepEqual((await request('GET', path)).body, [bug, urgent])
  const next = /<([^>]*)>/.exec((await request('GET', `${path}?limit=1`)).headers.get('link')!)![1]!
  assert.deepEqual((await request('GET', next)).body, [urgent])
  assert.equal((await activity())[0].action, 'label.created')
})

test('label names are unique, ignoring case', async (t) => {
  const { make, request, company } = await setUp(t)
  const path = `/api/companies/${company.id}/labels`
  const bug = await make('POST', path, { name: 'bug' })
  const other = await make('POST', path, { name: 'other' })
  const again = await request('POST', path, { name: 'Bug' })
  assert.equal(again.status, 409)
  assert.equal(again.body.details.labelId, bug.id)
  assert.equal((await request('PATCH', `/api/labels/${other.id}`, { name: 'BUG' })).status, 409)
  assert.equal((await make('PATCH', `/api/labels/${bug.id}`, { name: 'Bug', color: '#00ff00' })).name, 'Bug')
})

test('deleting a label removes it from its issues', async (t) => {
  const { make, request, create, company } = await setUp(t)
  const label = await make('POST', `/api/companies/${company.id}/labels`, { name: 'bug' })
  const issue = await create({ labelIds: [label.id] })
  assert.deepEqual(await make('DELETE', `/api/labels/${label.id}`), label)
  assert.deepEqual((await request('GET', `/api/issues/${issue.id}`)).body.labelIds, [])
  assert.equal((await request('DELETE', `/api/labels/${label.id}`)).status, 404)
})

test('only the board and managers can update and delete labels, and only in their own company', async (t) => {
  const app = await setUp(t)
  const label = await app.make('POST', `/api/companies/${app.company.id}/labels`, { name: 'bug' })
  const path = `/api/labels/${label.id}`
  assert.equal((await app.bob.request('DELETE', path)).status, 403)
  assert.equal((await app.mia.request('PATCH', path, { name: 'fault' })).body.name, 'fault')
  const elsewhere = await app.make('POST', '/api/companies', { name: 'Elsewhere' })
  const stranger = insertAgent(app, { company_id: elsewhere.id, role: 'ceo' })
  assert.equal((await stranger.request('DELETE', path)).status, 404)
})
