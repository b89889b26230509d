import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SYSTEM } from '../../../src/access/caller/caller.ts'
import { disableWebhook } from '../../../src/access/webhook/change.ts'
import { findWebhook } from '../../../src/access/webhook/queries.ts'
import { insertAgent, insertSpend } from '../../arrange.ts'
import { setUp } from '../issue/set-up.ts'

interface Item {
  id: string
  kind: string
  title: string
}
const kinds = (items: Item[]) => items.map(({ kind }) => kind).sort()

test('the inbox of a person contains the items that require an action from them', async (t) => {
  const app = await setUp(t)
  const { request, make, create, company, ada, clock } = app
  await create({ assigneeAgentId: ada.id, status: 'in_progress', title: 'Forgotten' })
  clock.move(2 * 24 * 60 * 60 * 1_000)
  const of = { company_id: company.id }
  insertAgent(app, { ...of, name: 'Eve', status: 'error', error_reason: 'No such program.' })
  const rich = insertAgent(app, { ...of, name: 'Rich', budget_micros: 1_000_000 })
  insertSpend(app.ctx, rich, 85)
  await make('POST', `/api/companies/${company.id}/approvals`, {
    type: 'approve_ceo_strategy',
    requestedByAgentId: app.cleo.id,
    payload: { plan: 'Grow' },
  })
  const mine = await create({ assigneeUserId: 'me', title: 'Sign' })
  await ada.request('POST', `/api/issues/${mine.id}/comments`, { body: 'Done, @board.' })
  await make('POST', `/api/issues/${mine.id}/comments`, { body: 'I tell @board.' })

  const { body } = await request('GET', '/api/inbox')
  assert.deepEqual(kinds(body), ['approval', 'assigned', 'budget', 'failure', 'mention', 'stale'])
  assert.deepEqual(body.map(({ kind, title }: Item) => `${kind}: ${title}`).sort(), [
    'approval: Approve the strategy of Cleo',
    'assigned: Sign',
    'budget: Rich used 80 % of its budget',
    'failure: Eve has a problem',
    'mention: Ada mentioned you in WAL-2',
    'stale: Forgotten',
  ])
  assert.deepEqual(
    (await request('GET', `/api/inbox?companyId=${company.id}&kind=mention,stale&limit=1`)).body.length,
    1,
  )
})

test('an approval in the inbox is named after what it is about', async (t) => {
  const { request, make, company, cleo, clock } = await setUp(t)
  const at = `/api/companies/${company.id}`
  await make('PATCH', at, { requireBoardApprovalForNewAgents: true })
  await cleo.request('POST', `${at}/agent-hires`, { name: 'Nora', role: 'researcher' })
  await cleo.request('POST', `${at}/agent-hires`, { name: 'Otto', title: 'Chart Maker' })
  const question = { type: 'request_board_approval', requestedByAgentId: cleo.id, payload: { title: 'Buy it?' } }
  await make('POST', `${at}/approvals`, question)
  clock.move(1_000)
  const titles = (await request('GET', '/api/inbox')).body.map(({ title }: Item) => title)
  assert.deepEqual(titles.sort(), ['Buy it?', 'Hire Nora, researcher', 'Hire Otto, chart maker'])
})

test('a budget in the inbox has the time of its warning or of its pause', async (t) => {
  const app = await setUp(t)
  const { request, make, company, clock } = app
  const rich = insertAgent(app, { company_id: company.id, name: 'Rich', budget_micros: 1_000_000 })
  const spend = (costCents: number) =>
    make('POST', `/api/companies/${company.id}/cost-events`, {
      agentId: rich.id,
      provider: 'x',
      model: 'y',
      costCents,
      occurredAt: app.ctx.now,
    })
  const budgets = async () =>
    (await request('GET', '/api/inbox')).body.map(
      ({ title, at }: Item & { at: string }) => `${title} ${at.slice(11, 19)}`,
    )
  await spend(85)
  clock.move(60_000)
  assert.deepEqual(await budgets(), ['Rich used 80 % of its budget 09:00:00'])
  await spend(15)
  clock.move(60_000)
  await make('PATCH', `/api/agents/${rich.id}`, { title: 'Spender' })
  assert.deepEqual(await budgets(), ['Rich used up its budget 09:01:00'])
})

test('a budget in the inbox does not have the time of the pause of another agent', async (t) => {
  const app = await setUp(t)
  const { request, make, company, clock } = app
  const spend = (agentId: string, costCents: number) =>
    make('POST', `/api/companies/${company.id}/cost-events`, { agentId, provider: 'x', model: 'y', costCents })
  const agent = (name: string) => insertAgent(app, { company_id: company.id, name, budget_micros: 1_000_000 }).id
  const [rich, poor] = [agent('Rich'), agent('Poor')]
  await spend(rich, 85)
  clock.move(60_000)
  await spend(poor, 100)
  const { body } = await request('GET', '/api/inbox?kind=budget')
  assert.deepEqual(body.map(({ title, at }: Item & { at: string }) => `${title} ${at.slice(11, 16)}`).sort(), [
    'Poor used up its budget 09:01',
    'Rich used 80 % of its budget 09:00',
  ])
})

test('a webhook that the server disabled is in the inbox until it is enabled', async (t) => {
  const app = await setUp(t)
  const { id } = await app.make('POST', `/api/companies/${app.company.id}/webhooks`, {
    url: 'https://ci.example.com/x',
  })
  const { ctx } = app
  await ctx.write(() => disableWebhook(ctx, SYSTEM, findWebhook(ctx.db, { id })!, 'gone'))
  const list = async () => (await app.request('GET', '/api/inbox?kind=failure')).body
  const [item] = await list()
  assert.deepEqual(
    [item.title, item.body, item.agentId],
    ['The webhook to ci.example.com is disabled', 'Its URL responded with 410 Gone.', null],
  )
  await app.make('PATCH', `/api/webhooks/${id}`, { status: 'active' })
  assert.deepEqual(await list(), [])
  // The board knows about a webhook that it disabled itself.
  await app.make('PATCH', `/api/webhooks/${id}`, { status: 'disabled' })
  assert.deepEqual(await list(), [])
})

test('an item can be marked read, unread and dismissed, and a change makes it unread again', async (t) => {
  const { request, make, create, company, cleo, clock } = await setUp(t)
  const approval = await make('POST', `/api/companies/${company.id}/approvals`, {
    type: 'approve_ceo_strategy',
    requestedByAgentId: cleo.id,
    payload: { plan: 'Grow' },
  })
  const list = async (query = '') => (await request('GET', `/api/inbox${query}`)).body
  const [item] = await list()
  const path = `/api/inbox/${item.id}`
  const read = await make('PATCH', path, { read: true })
  assert.equal(read.readAt, '2026-11-21T09:00:00.000Z')
  assert.deepEqual(await list(), [read])
  assert.deepEqual(await list('?unread=true'), [])
  assert.deepEqual(await make('PATCH', path, { read: false }), item)
  const dismissed = await make('PATCH', path, { dismissed: true })
  assert.deepEqual(await list(), [])
  assert.deepEqual(await list('?dismissed=true'), [dismissed])

  clock.move(1_000)
  await make('POST', `/api/approvals/${approval.id}/request-revision`)
  assert.deepEqual(await list('?dismissed=true'), [])
  await cleo.request('POST', `/api/approvals/${approval.id}/resubmit`, { payload: { plan: 'Grow slowly' } })
  assert.deepEqual(
    (await list('?unread=true')).map((one: Item) => one.id),
    [item.id],
  )
  await make('POST', `/api/approvals/${approval.id}/approve`)
  assert.deepEqual(await list('?dismissed=true'), [])
  assert.equal((await request('PATCH', path, { read: true })).status, 404)
  assert.equal((await request('PATCH', '/api/inbox/nothing', { read: true })).status, 404)
  await create()
})

test('the response to a comment lists mentioned names that match no agent', async (t) => {
  const { make, create, patch, request } = await setUp(t)
  const issue = await create()
  const path = `/api/issues/${issue.id}/comments`
  const comment = await make('POST', path, {
    body: '@Nobody and @Ada, see @types/node and a@b.example, `@code` too. @Nobody!',
  })
  assert.deepEqual(comment.unknownMentions, ['Nobody'])
  assert.equal('unknownMentions' in (await make('POST', path, { body: '@Ada and @board' })), false)
  assert.deepEqual((await patch(issue, { comment: '@Zoe?' })).comment.unknownMentions, ['Zoe'])
  assert.equal('unknownMentions' in (await request('GET', path)).body[0], false)
})

test('archiving an issue dismisses its items in the inbox of the person, and can be undone', async (t) => {
  const { make, create, request } = await setUp(t)
  const [one, two] = [await create({ assigneeUserId: 'me' }), await create({ assigneeUserId: 'me' })]
  const issuesOf = (items: { issueId: string }[]) => items.map(({ issueId }) => issueId)
  const list = async () => issuesOf((await request('GET', '/api/inbox')).body)
  const path = `/api/issues/${one.identifier}/inbox-archive`
  assert.deepEqual(issuesOf((await request('POST', path)).body), [one.id])
  assert.deepEqual(await list(), [two.id])
  const dismissals = `/api/companies/${one.companyId}/inbox-dismissals`
  assert.deepEqual(issuesOf((await request('GET', dismissals)).body), [one.id])
  assert.equal((await request('DELETE', path)).status, 200)
  assert.deepEqual((await request('GET', dismissals)).body, [])
  assert.equal((await request('POST', dismissals, { itemKey: `assigned:${two.id}` })).body.issueId, two.id)
  assert.deepEqual(await list(), [one.id])
  const other = await make('POST', '/api/companies', { name: 'Other' })
  const elsewhere = `/api/companies/${other.id}/inbox-dismissals`
  assert.equal((await request('POST', elsewhere, { itemKey: `assigned-${one.id}` })).status, 404)
})
