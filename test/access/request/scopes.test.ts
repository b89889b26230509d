import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertCompany } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'
import { cookieOf, createPeopleApp, PASSWORD } from '../auth/people.ts'

async function arrangeKeys(app: ReturnType<typeof createTestApp>) {
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId)
  const keyOf = (body: unknown) => app.make('POST', `/api/agents/${agent.id}/keys`, body)
  return { companyId, agent, keyOf }
}

test('a key with scope read may read, and every change with it is refused', async (t) => {
  const app = createTestApp(t)
  const { companyId, agent, keyOf } = await arrangeKeys(app)
  const { token, scope } = await keyOf({ scope: 'read' })
  assert.equal(scope, 'read')
  const request = app.as(token)
  assert.equal((await request('GET', '/api/agents/me')).status, 200)
  assert.equal((await request('GET', `/api/companies/${companyId}/issues`)).status, 200)
  for (const [method, path, body] of [
    ['POST', `/api/companies/${companyId}/issues`, { title: 'Draw' }],
    ['PATCH', `/api/agents/${agent.id}`, { title: 'Boss' }],
    ['POST', `/api/agents/${agent.id}/keys`, {}],
    ['DELETE', `/api/agents/${agent.id}/keys/x`, undefined],
  ] as const) {
    const response = await request(method, path, body)
    assert.deepEqual([response.status, response.body.details], [403, { scope: 'read' }], `${method} ${path}`)
  }
})

test('a key has the scope work unless the request sets read', async (t) => {
  const app = createTestApp(t)
  const { agent, keyOf } = await arrangeKeys(app)
  await keyOf({})
  await keyOf({ scope: { kind: 'standard' } })
  await keyOf({ scope: 'work' })
  const keys = (await app.request('GET', `/api/agents/${agent.id}/keys`)).body
  assert.deepEqual(new Set(keys.map(({ scope }: { scope: string }) => scope)), new Set(['work']))
  assert.equal((await app.request('POST', `/api/agents/${agent.id}/keys`, { scope: 'admin' })).status, 400)
})

test('a key is valid until it expires', async (t) => {
  const app = createTestApp(t)
  const { agent, keyOf } = await arrangeKeys(app)
  const { token, expiresAt } = await keyOf({ expiresAt: '2026-11-21T10:00:00Z' })
  assert.equal(expiresAt, '2026-11-21T10:00:00.000Z')
  app.clock.set('2026-11-21T09:59:59.999Z')
  assert.equal((await app.as(token)('GET', '/api/agents/me')).status, 200)
  app.clock.set('2026-11-21T10:00:00.000Z')
  assert.equal((await app.as(token)('GET', '/api/agents/me')).status, 401)
  const late = await app.request('POST', `/api/agents/${agent.id}/keys`, { expiresAt: '2026-11-21T10:00:00Z' })
  assert.equal(late.status, 422)
  assert.equal((await app.request('POST', `/api/agents/${agent.id}/keys`, { expiresAt: 'tomorrow' })).status, 400)
  // `Date` takes it for March 2.
  const noDay = { expiresAt: '2027-02-30T00:00:00Z' }
  assert.equal((await app.request('POST', `/api/agents/${agent.id}/keys`, noDay)).status, 400)
})

test('a personal token is valid until it expires', async (t) => {
  const app = createPeopleApp(t)
  const kit = await app.person('Kit', { [insertCompany(app.ctx)]: 'viewer' })
  const { body } = await kit.request('POST', '/api/board/tokens', { expiresAt: '2026-11-21T10:00:00Z' })
  assert.equal((await app.as(body.token)('GET', '/api/companies')).status, 200)
  app.clock.set('2026-11-21T10:00:01Z')
  assert.equal((await app.as(body.token)('GET', '/api/companies')).status, 401)
})

test('a person lists their sessions and ends one of them', async (t) => {
  const app = createPeopleApp(t)
  const roles = { [insertCompany(app.ctx)]: 'viewer' as const }
  const kit = await app.person('Kit', roles)
  const other = await app.person('Mia', roles)
  const [own] = (await kit.request('GET', '/api/auth/sessions')).body
  assert.equal(own.isCurrent, true)
  const [foreign] = (await other.request('GET', '/api/auth/sessions')).body
  assert.equal((await kit.request('DELETE', `/api/auth/sessions/${foreign.id}`)).status, 404)
  assert.equal((await other.request('GET', '/api/auth/session')).status, 200)
  assert.equal((await kit.request('DELETE', `/api/auth/sessions/${own.id}`)).status, 200)
  assert.equal((await kit.request('GET', '/api/auth/session')).status, 401)
})

test('a personal token lists and ends the sessions of its owner, and stays valid', async (t) => {
  const app = createPeopleApp(t)
  const roles = { [insertCompany(app.ctx)]: 'viewer' as const }
  const kit = await app.person('Kit', roles)
  const other = await app.person('Mia', roles)
  const script = app.as((await kit.request('POST', '/api/board/tokens')).body.token)
  const sessions = (await script('GET', '/api/auth/sessions')).body
  assert.deepEqual(
    sessions.map(({ isCurrent }: { isCurrent: boolean }) => isCurrent),
    [false],
  )
  assert.equal((await script('DELETE', `/api/auth/sessions/${sessions[0].id}`)).status, 200)
  assert.equal((await kit.request('GET', '/api/auth/session')).status, 401)
  const again = await app.request('POST', '/api/auth/sign-in', { email: kit.email, password: PASSWORD })
  const next = app.with(cookieOf(again.headers.get('set-cookie')))
  assert.equal((await script('POST', '/api/auth/sign-out-everywhere')).status, 200)
  assert.equal((await next('GET', '/api/auth/session')).status, 401)
  assert.equal((await script('GET', '/api/auth/session')).status, 200)
  assert.equal((await other.request('GET', '/api/auth/session')).status, 200)
})
