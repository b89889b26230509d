import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withIdempotency } from '../../src/http/idempotency.ts'
import { Reply } from '../../src/http/route.ts'
import { raw, sql } from '../../src/platform/database/sql.ts'
import { createPeopleApp } from '../access/auth/people.ts'
import { insertAgentRow, insertCompany, insertKey } from '../arrange.ts'
import { good } from '../contract/world.ts'
import { createTestApp } from '../helpers.ts'

const key = { 'idempotency-key': 'k1' }

test('a second request with the same key and body returns the first response and changes nothing', async (t) => {
  const { request, clock } = createTestApp(t)
  const first = await request('POST', '/api/companies', { name: 'Acme' }, key)
  clock.move(60_000)
  const second = await request('POST', '/api/companies', { name: 'Acme' }, key)
  assert.equal(second.status, 201)
  assert.deepEqual(second.body, first.body)
  assert.equal((await request('GET', '/api/companies')).body.length, 1)
})

test('concurrent requests with one key run once', async (t) => {
  const { request } = createTestApp(t)
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => request('POST', '/api/companies', { name: 'Acme' }, key)),
  )
  assert.equal(new Set(responses.map((response) => response.body.id)).size, 1)
  assert.equal((await request('GET', '/api/companies')).body.length, 1)
})

test('a different body with the same key is 422', async (t) => {
  const { request } = createTestApp(t)
  await request('POST', '/api/companies', { name: 'Acme' }, key)
  const { status, body } = await request('POST', '/api/companies', { name: 'Other' }, key)
  assert.equal(status, 422)
  assert.equal(body.code, 'idempotency_key_reused')
})

test('a failed request does not use up its key', async (t) => {
  const { request } = createTestApp(t)
  assert.equal((await request('POST', '/api/companies', { name: '' }, key)).status, 400)
  assert.equal((await request('POST', '/api/companies', { name: 'Acme' }, key)).status, 201)
})

test('a key expires after a day', async (t) => {
  const { request, clock } = createTestApp(t)
  await request('POST', '/api/companies', { name: 'Acme' }, key)
  clock.move(25 * 60 * 60 * 1_000)
  assert.equal((await request('POST', '/api/companies', { name: 'Other' }, key)).status, 201)
})

test('two callers may use the same key independently', async (t) => {
  const { ctx, request, as } = createTestApp(t)
  const companyId = insertCompany(ctx)
  const { key: agentKey } = insertKey(ctx, insertAgentRow(ctx, { company_id: companyId, role: 'ceo' }))
  assert.equal((await request('POST', '/api/companies', { name: 'Acme' }, key)).status, 201)
  assert.equal((await as(agentKey)('POST', '/api/companies', { name: 'Acme' }, key)).status, 403)
})

test('the query is part of the compared request', async (t) => {
  const { request } = createTestApp(t)
  await request('POST', '/api/companies', { name: 'Acme' }, key)
  assert.equal((await request('POST', '/api/companies?a=1', { name: 'Acme' }, key)).status, 422)
})

test('a key must have 1 to 255 characters', async (t) => {
  const { request } = createTestApp(t)
  for (const bad of ['', 'x'.repeat(256)]) {
    assert.equal((await request('POST', '/api/companies', { name: 'Acme' }, { 'idempotency-key': bad })).status, 400)
  }
})

test('the change and its stored response commit in one transaction', async (t) => {
  const { ctx, request } = createTestApp(t)
  // The table refuses the response, which simulates a crash before the response is stored.
  const refuse = raw`create temp trigger refuse before insert on idempotency begin select raise(abort, 'no'); end`
  ctx.db.run(refuse.compile(sql))
  await assert.rejects(() => request('POST', '/api/companies', { name: 'Acme' }, key))
  assert.deepEqual((await request('GET', '/api/companies')).body, [])
  ctx.db.run(raw`drop trigger refuse`.compile(sql))
  assert.equal((await request('POST', '/api/companies', { name: 'Acme' }, key)).status, 201)
  assert.equal(ctx.db.all(sql.selectFrom('idempotency').selectAll()).length, 1)
})

test('a response with a secret is not stored, and a retry is a conflict', async (t) => {
  const { ctx } = createTestApp(t)
  const once = { owner: 'user:local-board', key: 'k1', request: ['/api/secrets'], secret: true, authorizeReplay() {} }
  const make = () =>
    withIdempotency(
      ctx,
      once,
      (ctx) => ctx.write(() => ({ token: 'svc_hidden' })),
      (body) => new Reply(201, body),
    )
  assert.deepEqual((await make()).body, { token: 'svc_hidden' })
  assert.doesNotMatch(JSON.stringify(ctx.db.all(sql.selectFrom('idempotency').selectAll())), /svc_hidden/)
  await assert.rejects(make, { code: 'conflict' })
})

test('a person who lost the role or the membership does not receive the stored response', async (t) => {
  const app = createPeopleApp(t)
  const companyId = insertCompany(app.ctx)
  const owner = await app.person('Olga', { [companyId]: 'owner' })
  const member = await app.person('Mia', { [companyId]: 'member' })
  const issue = await good(owner.request('POST', `/api/companies/${companyId}/issues`, { title: 'Draw' }))
  const comment = () => member.request('POST', `/api/issues/${issue.id}/comments`, { body: 'Done' }, key)
  assert.deepEqual([(await comment()).status, (await comment()).status], [201, 201])
  await good(owner.request('PATCH', `/api/companies/${companyId}/members/${member.id}`, { role: 'viewer' }))
  assert.equal((await comment()).status, 403)
  await good(owner.request('DELETE', `/api/companies/${companyId}/members/${member.id}`))
  assert.equal((await comment()).status, 403)
})
