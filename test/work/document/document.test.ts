import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { setUp } from '../issue/set-up.ts'

async function withPlan(t: TestContext) {
  const app = await setUp(t)
  const issue = await app.create()
  const plan = `/api/issues/${issue.identifier}/documents/plan`
  const first = (await app.ada.request('PUT', plan, { title: 'The plan', body: '# Plan\n' })).body
  return { ...app, issue, plan, first, documents: `/api/issues/${issue.id}/documents` }
}

test('PUT creates a document; GET returns it, and the list omits its text', async (t) => {
  const { request, ada, documents, plan, first, issue } = await withPlan(t)
  assert.deepEqual(
    [first.key, first.title, first.format, first.body, first.issueId, first.latestRevisionNumber],
    ['plan', 'The plan', 'markdown', '# Plan\n', issue.id, 1],
  )
  assert.deepEqual([first.createdByAgentId, first.updatedByAgentId], [ada.id, ada.id])
  assert.deepEqual((await request('GET', plan)).body, first)
  const { body: _, ...summary } = first
  assert.deepEqual((await request('GET', documents)).body, [summary])
  assert.equal((await request('PUT', `${documents}/notes`, { body: '' })).status, 201)
})

test('an update with a base revision adds a revision', async (t) => {
  const { request, plan, first } = await withPlan(t)
  const change = { body: '# Better plan\n', baseRevisionId: first.latestRevisionId, changeSummary: 'Better' }
  const { status, body } = await request('PUT', plan, change)
  assert.equal(status, 200)
  assert.deepEqual([body.id, body.title, body.latestRevisionNumber], [first.id, 'The plan', 2])
  assert.deepEqual([body.updatedByAgentId, body.updatedByUserId], [null, 'local-board'])
  const revisions = (await request('GET', `${plan}/revisions`)).body
  assert.deepEqual(
    revisions.map((one: { revisionNumber: number; changeSummary: string }) => [one.revisionNumber, one.changeSummary]),
    [
      [2, 'Better'],
      [1, null],
    ],
  )
  for (const ref of ['1', first.latestRevisionId]) {
    assert.equal((await request('GET', `${plan}/revisions/${ref}`)).body.body, '# Plan\n')
  }
  assert.equal((await request('GET', `${plan}/revisions/3`)).status, 404)
})

test('an update with a stale or missing base returns 409 with the current document and changes nothing', async (t) => {
  const { request, plan, first } = await withPlan(t)
  const second = (await request('PUT', plan, { body: 'two', baseRevisionId: first.latestRevisionId })).body
  for (const baseRevisionId of [first.latestRevisionId, null, undefined]) {
    const { status, body } = await request('PUT', plan, { body: 'three', baseRevisionId })
    assert.equal(status, 409)
    assert.equal(body.details.currentRevisionId, second.latestRevisionId)
    assert.deepEqual(body.details.current, second)
  }
  assert.deepEqual((await request('GET', plan)).body, second)
})

test('an update with a base for an unknown document returns 409', async (t) => {
  const { request, documents, first } = await withPlan(t)
  const { status } = await request('PUT', `${documents}/other`, { body: 'x', baseRevisionId: first.latestRevisionId })
  assert.equal(status, 409)
})

test('a repeated identical PUT is a no-op, so clients can retry it', async (t) => {
  const { ada, request, plan, first, activity } = await withPlan(t)
  const again = await ada.request('PUT', plan, { title: 'The plan', body: '# Plan\n' })
  assert.deepEqual([again.status, again.body], [200, first])
  const change = { body: 'two', baseRevisionId: first.latestRevisionId }
  const second = (await request('PUT', plan, change)).body
  assert.deepEqual((await request('PUT', plan, change)).body, second)
  const received = (await activity()).filter((one: { action: string }) => one.action.startsWith('issue.document'))
  assert.deepEqual(
    received.map((one: { action: string }) => one.action),
    ['issue.document_updated', 'issue.document_created'],
  )
})

test('of two concurrent updates of a document one succeeds and the other returns a conflict', async (t) => {
  const { ada, bob, plan, first } = await withPlan(t)
  const responses = await Promise.all(
    [ada, bob].map((one) =>
      one.request('PUT', plan, { body: `By ${one.name}`, baseRevisionId: first.latestRevisionId }),
    ),
  )
  assert.deepEqual(responses.map((response) => response.status).sort(), [200, 409])
})

test('only the creator of a document, its managers and the board can delete the document', async (t) => {
  const { ada, mia, bob, request, plan, documents, first } = await withPlan(t)
  assert.equal((await bob.request('DELETE', plan)).status, 403)
  assert.deepEqual((await mia.request('DELETE', plan)).body, first)
  assert.equal((await request('GET', plan)).status, 404)
  assert.deepEqual((await request('GET', documents)).body, [])
  await request('PUT', plan, { body: "The board's" })
  assert.equal((await ada.request('DELETE', plan)).status, 403)
  assert.equal((await request('DELETE', plan)).status, 200)
})

test('a key is a short lower-case word: PUT refuses an invalid key, and GET returns 404', async (t) => {
  const { request, documents } = await withPlan(t)
  for (const key of ['Plan', 'a%20b', '-x', 'x'.repeat(65)]) {
    assert.equal((await request('PUT', `${documents}/${key}`, { body: 'x' })).status, 400, key)
    assert.equal((await request('GET', `${documents}/${key}`)).status, 404, key)
  }
})

test('a document of another company returns 404', async (t) => {
  const app = await withPlan(t)
  const elsewhere = await app.make('POST', '/api/companies', { name: 'Elsewhere' })
  const stranger = insertAgent(app, { company_id: elsewhere.id })
  for (const path of [app.plan, `${app.plan}/revisions`, app.documents]) {
    assert.equal((await stranger.request('GET', path)).status, 404, path)
  }
  assert.equal((await stranger.request('PUT', app.plan, { body: 'x' })).status, 404)
  assert.equal((await stranger.request('DELETE', app.plan)).status, 404)
})
