import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setUp } from '../issue/set-up.ts'

test('restoring a revision adds a new revision with its text and keeps both in the history', async (t) => {
  const { create, make, request } = await setUp(t)
  const path = `/api/issues/${(await create()).id}/documents/plan`
  const first = await make('PUT', path, { title: 'Plan', body: 'One.' })
  await make('PUT', path, { title: 'Other', body: 'Two.', baseRevisionId: first.latestRevisionId })
  const restored = await make('POST', `${path}/revisions/1/restore`)
  assert.deepEqual([restored.title, restored.body, restored.latestRevisionNumber], ['Plan', 'One.', 3])
  assert.equal((await make('GET', `${path}/revisions/2`)).body, 'Two.')
  const [latest] = await make('GET', `${path}/revisions`)
  assert.equal(latest.changeSummary, 'Restored revision 1.')
  assert.equal((await make('POST', `${path}/revisions/1/restore`)).latestRevisionNumber, 3, 'it is that already')
  assert.equal((await request('POST', `${path}/revisions/9/restore`)).status, 404)
})
