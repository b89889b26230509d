import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listUnread } from '../../../src/work/issue/unread-queries.ts'
import { createPeopleApp } from '../../access/auth/people.ts'
import { insertCompany } from '../../arrange.ts'
import { plansOf } from '../../plans.ts'
import { setUp } from './set-up.ts'

test('an issue is unread for a person when somebody else acts on it, until the person marks it as read', async (t) => {
  const { request, make, create, ada, issues } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id })
  const path = `/api/issues/${issue.id}`
  const isUnread = async () => (await request('GET', path)).body.unread
  assert.equal(issue.unread, false, 'only the person itself has acted on it')
  await make('POST', `${path}/comments`, { body: 'Please begin.' })
  assert.equal(await isUnread(), false)

  await ada.request('POST', `${path}/checkout`)
  assert.equal(await isUnread(), true)
  assert.equal((await make('PATCH', path, { priority: 'high' })).unread, true, 'an own action marks nothing as read')
  assert.equal((await make('POST', `${path}/read`)).unread, false)
  assert.equal((await make('POST', `${path}/read`)).unread, false)
  assert.equal(await isUnread(), false)
  assert.deepEqual((await request('GET', `${issues}?unread=true`)).body, [])

  await ada.request('POST', `${path}/comments`, { body: 'Done.' })
  assert.equal(await isUnread(), true)
})

test('a person marks an issue as unread, also one on which nobody else acted', async (t) => {
  const { request, make, create } = await setUp(t)
  const issue = await create()
  const path = `/api/issues/${issue.identifier}`
  assert.equal((await make('DELETE', `${path}/read`)).unread, true)
  assert.equal((await request('GET', path)).body.unread, true)
  assert.equal((await make('POST', `${path}/read`)).unread, false)
  assert.equal((await request('GET', path)).body.unread, false)
})

test('the list filters by unread, together with other filters, a search, the count and pages', async (t) => {
  const { request, create, ada, company, issues } = await setUp(t)
  const own = await create({ title: 'Own' })
  const others = []
  for (const title of ['First tide', 'Second', 'Third tide']) {
    others.push((await ada.request('POST', `/api/companies/${company.id}/issues`, { title })).body)
  }
  const titles = async (query: string) =>
    (await request('GET', `${issues}?${query}`)).body.map((issue: { title: string }) => issue.title)
  assert.deepEqual(await titles('unread=true'), ['Third tide', 'Second', 'First tide'])
  assert.deepEqual(await titles('unread=false'), [own.title])
  assert.deepEqual(await titles('unread=true&q=tide'), ['Third tide', 'First tide'])
  assert.deepEqual(await titles('unread=true&status=done'), [])
  const page = await request('GET', `${issues}?unread=true&limit=2&count=true`)
  assert.equal(page.headers.get('x-total-count'), '3')
  const next = /<([^>]*)>/.exec(page.headers.get('link') ?? '')![1]!
  assert.deepEqual(
    (await request('GET', next)).body.map((issue: { id: string }) => issue.id),
    [others[0].id],
  )
  assert.equal((await request('GET', `${issues}?unread=yes`)).status, 400)
})

test('no issue is unread for an agent, and an agent has no read state', async (t) => {
  const { create, ada, issues } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id })
  assert.equal((await ada.request('GET', `/api/issues/${issue.id}`)).body.unread, false)
  assert.equal((await ada.request('GET', issues)).body[0].unread, false)
  assert.equal((await ada.request('GET', `${issues}?unread=true`)).status, 403)
  for (const method of ['POST', 'DELETE'] as const) {
    assert.equal((await ada.request(method, `/api/issues/${issue.id}/read`)).status, 403)
  }
})

test('the read state of one person does not affect another', async (t) => {
  const app = createPeopleApp(t)
  const id = insertCompany(app.ctx)
  const [ann, ben] = [await app.person('Ann', { [id]: 'admin' }), await app.person('Ben', { [id]: 'viewer' })]
  const issue = (await ann.request('POST', `/api/companies/${id}/issues`, { title: 'Sign' })).body
  const path = `/api/issues/${issue.id}`
  const states = async () => [
    (await ann.request('GET', path)).body.unread,
    (await ben.request('GET', path)).body.unread,
  ]
  assert.deepEqual(await states(), [false, true])
  assert.equal((await ben.request('POST', `${path}/read`)).status, 200, 'a viewer has a read state too')
  assert.deepEqual(await states(), [false, false])
  await ann.request('DELETE', `${path}/read`)
  assert.deepEqual(await states(), [true, false])
})

test('the unread issues of a page are found through indexes', async (t) => {
  const { ctx, create } = await setUp(t)
  await create()
  const plan = plansOf(ctx, (db) => listUnread(db, { userId: 'local-board', seqs: [1] }))
  assert.ok(!plan.some((step) => /^SCAN (issue|activity|issue_read)( |$)/.test(step)), plan.join('; '))
})
