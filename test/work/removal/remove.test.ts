import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { insertRun, wakeReasons } from '../../arrange.ts'
import { setUp } from '../issue/set-up.ts'

test('deleting an issue deletes its comments and files and keeps its costs and activity', async (t) => {
  const { create, request, make, ada, bob, company, config, ctx, activity } = await setUp(t)
  const issue = await create({ assigneeAgentId: ada.id })
  const waiting = await create({ assigneeAgentId: bob.id, blockedByIssueIds: [issue.id] })
  const form = new FormData()
  form.set('file', new File(['hello'], 'note.txt'))
  const { assetId } = (await request('POST', `/api/issues/${issue.id}/attachments`, form)).body
  await make('POST', `/api/issues/${issue.id}/comments`, { body: 'Hm.' })
  const cost = { agentId: ada.id, issueId: issue.id, provider: 'p', model: 'm', costCents: 7 }
  await make('POST', `/api/companies/${company.id}/cost-events`, cost)
  assert.equal((await ada.request('DELETE', `/api/issues/${issue.id}`)).status, 403)
  const file = path.join(config.dataDir, 'assets', assetId)
  assert.ok(existsSync(file))

  assert.equal((await make('DELETE', `/api/issues/${issue.id}`)).identifier, issue.identifier)
  assert.equal((await request('GET', `/api/issues/${issue.id}`)).status, 404)
  assert.ok(!existsSync(file))
  assert.deepEqual(
    wakeReasons(ctx, bob).map(({ source, issueId }) => [source, issueId]),
    [['blockers_resolved', waiting.id]],
  )
  assert.deepEqual(wakeReasons(ctx, ada), [])
  const [entry] = await activity()
  assert.deepEqual(
    [entry.action, entry.details.identifier, entry.details.title],
    ['issue.deleted', issue.identifier, 'Do'],
  )
  assert.equal((await request('GET', `/api/companies/${company.id}/costs/summary`)).body.costCents, 7)
  const [ofIssue] = (await request('GET', `/api/companies/${company.id}/costs/by-issue`)).body
  assert.deepEqual([ofIssue.issueId, ofIssue.identifier, ofIssue.costCents], [issue.id, null, 7])
  assert.equal((await make('GET', '/api/instance/check')).ok, true)
})

test('an issue with sub-issues cannot be deleted', async (t) => {
  const { create, request, make } = await setUp(t)
  const parent = await create()
  const child = await create({ parentId: parent.id })
  const refused = await request('DELETE', `/api/issues/${parent.id}`)
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
  await make('DELETE', `/api/issues/${child.id}`)
  await make('DELETE', `/api/issues/${parent.id}`)
})

test('an issue returns its live runs and its cost including sub-issues', async (t) => {
  const app = await setUp(t)
  const { create, make, ada, bob, company } = app
  const issue = await create({ assigneeAgentId: ada.id })
  const child = await create({ parentId: issue.id })
  const of = `/api/issues/${issue.id}`
  assert.equal(await make('GET', `${of}/active-run`), null)
  const run = await insertRun(app, ada, { issue_id: issue.id })
  await insertRun(app, bob, { issue_id: child.id })
  assert.equal((await make('GET', `${of}/active-run`)).id, run.id)
  assert.deepEqual(
    (await make('GET', `${of}/live-runs`)).map((one: { id: string }) => one.id),
    [run.id],
  )
  for (const [issueId, costCents] of [
    [issue.id, 3],
    [issue.id, 4],
    [child.id, 5],
  ]) {
    const cost = { agentId: ada.id, issueId, provider: 'p', model: 'm', costCents, inputTokens: 10 }
    await make('POST', `/api/companies/${company.id}/cost-events`, cost)
  }
  const { own, withSubIssues } = await make('GET', `${of}/costs`)
  assert.deepEqual([own.costCents, own.eventCount, own.inputTokens], [7, 2, 20])
  assert.deepEqual([withSubIssues.issueCount, withSubIssues.costCents, withSubIssues.eventCount], [2, 12, 3])
})
