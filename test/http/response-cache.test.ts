import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResponseCache } from '../../src/http/response-cache.ts'
import { sql } from '../../src/platform/database/sql.ts'
import { insertAgent, insertAgentRow, insertCompany, insertIssue } from '../arrange.ts'
import { createTestApp } from '../helpers.ts'

test('a list is cached until the next change', async (t) => {
  const { ctx, request, make } = createTestApp(t)
  const list = `/api/companies/${insertCompany(ctx)}/issues`
  assert.deepEqual((await request('GET', list)).body, [])
  await make('POST', list, { title: 'First' })
  assert.deepEqual(await titlesIn(request, list), ['First'])
  const [read, again] = [await request('GET', list), await request('GET', list)]
  assert.deepEqual(again.body, read.body)
  assert.notEqual(again.headers.get('x-request-id'), read.headers.get('x-request-id'))
  await ctx.writeLong(function* (own) {
    own.db.run(sql.updateTable('issue').set({ title: 'Changed by another connection' }))
    yield
  })
  assert.deepEqual(await titlesIn(request, list), ['Changed by another connection'])
})

test('the cache has a separate response for each caller and URL', async (t) => {
  const app = createTestApp(t)
  const { ctx, request, as } = app
  const company_id = insertCompany(ctx)
  const [ada, bob] = [insertAgent(app, { company_id }), insertAgent(app, { company_id })]
  insertIssue(ctx, { company_id, title: 'Of Ada', assignee_agent_id: ada.id })
  insertIssue(ctx, { company_id, title: 'Of Bob', assignee_agent_id: bob.id })
  const mine = `/api/companies/${company_id}/issues?assigneeAgentId=me`
  assert.deepEqual(await titlesIn(ada.request, mine), ['Of Ada'])
  assert.deepEqual(await titlesIn(bob.request, mine), ['Of Bob'])
  assert.equal((await titlesIn(request, `/api/companies/${company_id}/issues?limit=1`)).length, 1)
  assert.equal((await titlesIn(request, `/api/companies/${company_id}/issues?limit=2`)).length, 2)
  assert.equal((await as('wrong')('GET', mine)).status, 401)
})

test('a time-dependent response expires within a second', async (t) => {
  const { ctx, request, clock } = createTestApp(t)
  const company_id = insertCompany(ctx)
  const agent = insertAgentRow(ctx, { company_id })
  insertIssue(ctx, { company_id, status: 'in_progress', assignee_agent_id: agent.id })
  const path = `/api/companies/${company_id}/dashboard?staleAfterSec=1`
  assert.equal((await request('GET', path)).body.staleTasks, 0)
  clock.move(2_000)
  assert.equal((await request('GET', path)).body.staleTasks, 1)
})

test('a response is not cached if a change happens during the read', async (t) => {
  const { ctx } = createTestApp(t)
  const cache = createResponseCache(ctx)
  const render = (body: string) => async () => ({ status: 200, headers: {}, body })
  const read = await cache.get('a', async () => {
    insertCompany(ctx)
    return render('before')()
  })
  assert.equal(read.body, 'before')
  assert.equal((await cache.get('a', render('after'))).body, 'after')
  assert.equal((await cache.get('a', render('not read'))).body, 'after')
})

test('the cache stores a limited number of responses', async (t) => {
  const { ctx } = createTestApp(t)
  const cache = createResponseCache(ctx)
  const render = (body: string) => async () => ({ status: 200, headers: {}, body })
  await cache.get('large', render('x'.repeat(20_000_000)))
  assert.equal((await cache.get('large', render('too large to store'))).body, 'too large to store')
  for (let n = 0; n < 200; n++) await cache.get(`key ${n}`, render('first'))
  assert.equal((await cache.get('key 0', render('second'))).body, 'first')
  assert.equal((await cache.get('key 199', render('second'))).body, 'second')
})

const titlesIn = async (
  request: (method: string, path: string) => Promise<{ body: { title: string }[] }>,
  path: string,
) => (await request('GET', path)).body.map(({ title }) => title)
