import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

test('the activity list excludes the actions given in `without`', async (t) => {
  const { request, make } = createTestApp(t)
  const { id } = await make('POST', '/api/companies', { name: 'Acme' })
  await make('POST', `/api/companies/${id}/issues`, { title: 'One' })
  await make('POST', `/api/companies/${id}/labels`, { name: 'bug' })
  const actions = async (query: string) =>
    (await request('GET', `/api/companies/${id}/activity${query}`)).body.map(({ action }: { action: string }) => action)
  const all = await actions('')
  assert.ok(all.includes('issue.created') && all.includes('label.created'))
  assert.deepEqual(
    await actions('?without=issue.created,label.created'),
    all.filter((action: string) => action !== 'issue.created' && action !== 'label.created'),
  )
  assert.equal((await request('GET', `/api/companies/${id}/activity?without=${'a,'.repeat(21)}`)).status, 400)
})

test('the activity list contains only what an agent did, if the query names the agent', async (t) => {
  const app = createTestApp(t)
  const { id } = await app.make('POST', '/api/companies', { name: 'Acme' })
  const agent = insertAgent(app, { company_id: id })
  assert.equal((await agent.request('POST', `/api/companies/${id}/issues`, { title: 'One' })).status, 201)
  await app.make('POST', `/api/companies/${id}/issues`, { title: 'Two' })
  const { body } = await app.request('GET', `/api/companies/${id}/activity?agentId=${agent.id}`)
  assert.deepEqual(
    body.map(({ action, agentId }: { action: string; agentId: string }) => [action, agentId]),
    [['issue.created', agent.id]],
  )
})

test('the activity of an entity is listed, newest first, and only in its company', async (t) => {
  const { request, make } = createTestApp(t)
  const [ours, theirs] = [
    await make('POST', '/api/companies', { name: 'Acme' }),
    await make('POST', '/api/companies', { name: 'Other' }),
  ]
  const issue = await make('POST', `/api/companies/${ours.id}/issues`, { title: 'One' })
  await make('POST', `/api/companies/${ours.id}/issues`, { title: 'Two' })
  await make('POST', `/api/issues/${issue.id}/comments`, { body: 'Hello' })
  const actions = async (companyId: string) => {
    const { body } = await request('GET', `/api/companies/${companyId}/activity?entityId=${issue.id}`)
    return body.map(({ action }: { action: string }) => action)
  }
  assert.deepEqual(await actions(ours.id), ['issue.commented', 'issue.created'])
  assert.deepEqual(await actions(theirs.id), [])
})
