import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { hasApprovedStrategy } from '../../../src/work/issue/strategy.ts'
import { insertAgent, insertIssue, insertRunRow } from '../../arrange.ts'
import { arrange } from './arrange.ts'

test('the CEO requests approval of its strategy, and the board lists it as pending', async (t) => {
  const { strategy, request, path, ceo } = await arrange(t)
  const made = await strategy()
  assert.equal(made.status, 'pending')
  assert.equal(made.requestedByAgentId, ceo.id)
  assert.deepEqual(made.payload, { plan: 'Grow' })
  assert.deepEqual((await request('GET', `${path}?status=pending`)).body, [made])
  assert.deepEqual((await request('GET', `${path}?status=approved,rejected`)).body, [])
  assert.equal((await request('GET', `${path}?status=open`)).status, 400)
  assert.deepEqual((await request('GET', `/api/approvals/${made.id}`)).body, made)
})

test('the list of approvals is paginated and sorted newest first', async (t) => {
  const { strategy, request, path } = await arrange(t)
  const ids = []
  for (let i = 0; i < 3; i++) ids.unshift((await strategy()).id)
  const first = await request('GET', `${path}?limit=2`)
  const next = /<(.+)>; rel="next"/.exec(first.headers.get('link')!)![1]!
  const rest = await request('GET', next)
  assert.deepEqual(
    [...first.body, ...rest.body].map((one: { id: string }) => one.id),
    ids,
  )
})

test('an agent can request approvals only for itself, and strategy approvals only if it is the CEO', async (t) => {
  const { ceo, engineer, path } = await arrange(t)
  const body = { type: 'approve_ceo_strategy', payload: { plan: 'x' } }
  assert.equal((await engineer.request('POST', path, body)).status, 403)
  assert.equal((await engineer.request('POST', path, { ...body, requestedByAgentId: ceo.id })).status, 403)
  assert.equal((await ceo.request('POST', path, { ...body, requestedByAgentId: ceo.id })).status, 201)
  assert.equal((await ceo.request('POST', path, { ...body, requestedByAgentId: engineer.id })).status, 403)
  const refused = await engineer.request('POST', path, { type: 'hire_agent', payload: {} })
  assert.equal(refused.status, 403)
  assert.match(refused.body.error, /manager/)
})

test('the board can request approvals only for the CEO, and can omit its name', async (t) => {
  const { request, ceo, engineer, stranger, path } = await arrange(t)
  const body = { type: 'approve_ceo_strategy', payload: { plan: 'x' } }
  const made = (await request('POST', path, body)).body
  assert.equal(made.requestedByAgentId, ceo.id)
  assert.equal(made.requestedByUserId, 'local-board')
  for (const requestedByAgentId of [engineer.id, stranger.id]) {
    const response = await request('POST', path, { ...body, requestedByAgentId })
    assert.equal(response.status, 422)
    assert.equal(response.body.details.fields[0].path, 'requestedByAgentId')
  }
})

test('a strategy without a plan is refused', async (t) => {
  const { request, path } = await arrange(t)
  for (const payload of [undefined, {}, { plan: '  ' }, { plan: null }, { plan: 7 }]) {
    const response = await request('POST', path, { type: 'approve_ceo_strategy', payload })
    assert.equal(response.status, 400)
    assert.equal(response.body.details.fields[0].path, 'payload.plan')
  }
})

test('approving a strategy activates it and wakes the CEO with the approval and its first issue', async (t) => {
  const { app, strategy, decide, company, ceo, wakeOf } = await arrange(t)
  const [first, second] = [
    insertIssue(app.ctx, { company_id: company.id }),
    insertIssue(app.ctx, { company_id: company.id }),
  ]
  const made = await strategy({ issueIds: [second.id, first.identifier.toLowerCase()] })
  assert.equal(hasApprovedStrategy(app.ctx.db, { agentId: ceo.id }), false)
  const { body } = await decide(made, 'approve', { decisionNote: 'Go.' })
  assert.equal(body.status, 'approved')
  assert.equal(body.decisionNote, 'Go.')
  assert.equal(body.decidedByUserId, 'local-board')
  assert.equal(body.decidedAt, '2026-11-21T09:00:00.000Z')
  assert.equal(hasApprovedStrategy(app.ctx.db, { agentId: ceo.id }), true)
  const wake = wakeOf(ceo)!
  assert.equal(wake.issue_id, first.id)
  assert.equal(wake.reasons.length, 1)
  assert.equal(wake.reasons[0].source, 'approval_resolved')
  assert.equal(wake.reasons[0].approvalId, made.id)
})

for (const verb of ['approve', 'reject', 'request-revision']) {
  test(`to ${verb} an approval twice updates, wakes and records once`, async (t) => {
    const { strategy, decide, request, company, ceo, wakeOf, clock } = await arrange(t)
    const made = await strategy()
    const first = await decide(made, verb)
    clock.move(60_000)
    const second = await decide(made, verb, { decisionNote: 'again' })
    assert.deepEqual(second.body, first.body)
    assert.equal(wakeOf(ceo)!.reasons.length, 1)
    const entries = (await request('GET', `/api/companies/${company.id}/activity?entityId=${made.id}`)).body
    assert.equal(entries.length, 2)
  })

  test(`no agent can ${verb} an approval`, async (t) => {
    const { strategy, ceo, engineer } = await arrange(t)
    const made = await strategy()
    for (const agent of [ceo, engineer]) {
      assert.equal((await agent.request('POST', `/api/approvals/${made.id}/${verb}`)).status, 403)
    }
  })
}

test('a hired agent can work after approval, and never after rejection or cancellation', async (t) => {
  const { hire, decide, statusOf, ceo } = await arrange(t)
  const one = await hire()
  assert.equal(one.approval.agentId, one.agent.id)
  await decide(one.approval, 'request-revision')
  assert.equal(statusOf(one.agent), 'pending_approval')
  await decide(one.approval, 'resubmit')
  await decide(one.approval, 'approve')
  assert.equal(statusOf(one.agent), 'idle')
  const two = await hire()
  await decide(two.approval, 'reject')
  assert.equal(statusOf(two.agent), 'terminated')
  const three = await hire()
  assert.equal((await ceo.request('POST', `/api/approvals/${three.approval.id}/cancel`)).body.status, 'cancelled')
  assert.equal(statusOf(three.agent), 'terminated')
})

test('a hire approval requires a pending agent of the company, and an agent has one open hire approval', async (t) => {
  const { app, hire, request, path, engineer, other } = await arrange(t)
  const foreign = insertAgent(app, { company_id: other.id, status: 'pending_approval' })
  for (const agentId of [engineer.id, foreign.id]) {
    const response = await request('POST', path, { type: 'hire_agent', payload: { agentId } })
    assert.equal(response.status, 422)
    assert.equal(response.body.details.fields[0].path, 'payload.agentId')
  }
  const { agent, approval } = await hire()
  const again = await request('POST', path, { type: 'hire_agent', payload: { agentId: agent.id } })
  assert.equal(again.status, 409)
  assert.equal(again.body.details.approvalId, approval.id)
})

test('only the requester can revise and resubmit an approval', async (t) => {
  const { strategy, decide, ceo, engineer } = await arrange(t)
  const made = await strategy()
  await decide(made, 'request-revision', { decisionNote: 'Smaller.' })
  const path = `/api/approvals/${made.id}/resubmit`
  assert.equal((await engineer.request('POST', path, { payload: { plan: 'y' } })).status, 403)
  assert.equal((await engineer.request('POST', `/api/approvals/${made.id}/cancel`)).status, 403)
  assert.equal((await ceo.request('POST', path, { payload: { plan: '' } })).status, 400)
  const { body } = await ceo.request('POST', path, { payload: { plan: 'Shrink' } })
  assert.equal(body.status, 'pending')
  assert.deepEqual(body.payload, { plan: 'Shrink' })
  assert.equal(body.decisionNote, null)
  assert.equal(body.decidedAt, null)
  assert.equal((await ceo.request('POST', path)).status, 200, 'once more changes nothing')
  assert.equal((await ceo.request('POST', path, { payload: { plan: 'z' } })).status, 422)
})

test('a hire approval shows the stored settings of the agent, after the request and after a revision', async (t) => {
  const { hire, decide, ceo } = await arrange(t)
  const lie = { adapterConfig: { command: '/opt/good' }, reason: 'We need one.' }
  const { approval } = await hire(lie, { command: '/opt/evil', env: { KEY: 'hidden' } })
  assert.equal(approval.payload.adapterConfig.command, '/opt/evil')
  assert.equal(approval.payload.runs.command, '/opt/evil')
  assert.equal(approval.payload.reason, 'We need one.')
  await decide(approval, 'request-revision')
  const path = `/api/approvals/${approval.id}/resubmit`
  const refused = await ceo.request('POST', path, { payload: lie })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.details.fields[0].path, 'payload.adapterConfig')
  const { body } = await ceo.request('POST', path, { payload: { ...approval.payload, reason: 'Really.' } })
  assert.deepEqual(body.payload, { ...approval.payload, reason: 'Really.' })
  await decide(approval, 'request-revision')
  const stored = await ceo.request('POST', path, { payload: {} })
  assert.equal(stored.body.payload.adapterConfig.command, '/opt/evil')
  assert.equal('reason' in stored.body.payload, false)
})

test('a hire approval for a terminated agent can be rejected, but not approved', async (t) => {
  const { app, hire, decide, statusOf } = await arrange(t)
  const gone = async () => {
    const { agent, approval } = await hire()
    app.ctx.db.run(sql.updateTable('agent').set({ status: 'terminated' }).where('id', '=', agent.id))
    return { agent, approval }
  }
  const one = await gone()
  assert.equal((await decide(one.approval, 'approve')).status, 422)
  assert.equal((await decide(one.approval, 'reject')).body.status, 'rejected')
  const two = await gone()
  assert.equal((await decide(two.approval, 'cancel')).body.status, 'cancelled')
  assert.equal(statusOf(two.agent), 'terminated')
})

test('the response hides secrets in a payload', async (t) => {
  const { request, path } = await arrange(t)
  const payload = {
    adapterConfig: { command: 'x', env: { A: 'one', B: { $secret: 'NAME' } }, headers: { Authorization: 'two' } },
    apiKey: 'three',
    maxTokens: 4,
  }
  const approval = (await request('POST', path, { type: 'hire_agent', payload })).body
  for (const response of [await request('GET', path), await request('GET', `/api/approvals/${approval.id}`)]) {
    assert.doesNotMatch(JSON.stringify(response.body), /one|two|three/)
  }
  assert.equal(approval.payload.adapterConfig.command, 'x')
  assert.deepEqual(approval.payload.adapterConfig.env.B, { $secret: 'NAME' })
  assert.equal(approval.payload.maxTokens, 4)
})

test('comments are listed oldest first or newest first, with their authors', async (t) => {
  const { app, strategy, request, company, engineer } = await arrange(t)
  const made = await strategy()
  const path = `/api/approvals/${made.id}/comments`
  const runId = insertRunRow(app.ctx, engineer)
  const run = app.as(await app.ctx.tokens.sign({ id: runId, agentId: engineer.id, companyId: company.id }))
  assert.equal((await request('POST', path, { body: ' ' })).status, 400)
  const first = (await request('POST', path, { body: 'Why?' })).body
  const second = (await run('POST', path, { body: 'Because.' })).body
  assert.equal(first.authorUserId, 'local-board')
  assert.equal(second.authorAgentId, engineer.id)
  assert.equal(second.createdByRunId, runId)
  assert.deepEqual((await request('GET', path)).body, [first, second])
  assert.deepEqual((await request('GET', `${path}?order=desc&limit=1`)).body, [second])
})

test('approvals and issues can be linked from both sides', async (t) => {
  const { app, strategy, request, company, ceo } = await arrange(t)
  const made = await strategy()
  const issue = insertIssue(app.ctx, { company_id: company.id, title: 'Plan' })
  const path = `/api/issues/${issue.identifier.toLowerCase()}/approvals`
  assert.equal((await ceo.request('POST', path, { approvalId: made.id })).body.id, made.id)
  await request('POST', path, { approvalId: made.id })
  assert.deepEqual((await request('GET', path)).body, [made])
  const linked = (await request('GET', `/api/approvals/${made.id}/issues`)).body
  assert.deepEqual(linked, [
    {
      id: issue.id,
      identifier: issue.identifier,
      title: 'Plan',
      status: 'todo',
      priority: 'medium',
      assigneeAgentId: null,
    },
  ])
  assert.deepEqual((await request('DELETE', `${path}/${made.id}`)).body, { ok: true })
  assert.equal((await request('DELETE', `${path}/${made.id}`)).status, 404)
  assert.deepEqual((await request('GET', `/api/approvals/${made.id}/issues`)).body, [])
  const entries = (await request('GET', `/api/companies/${company.id}/activity?entityId=${issue.id}`)).body
  assert.deepEqual(
    entries.map((entry: { action: string }) => entry.action),
    ['issue.approval_unlinked', 'issue.approval_linked'],
  )
})

test('objects of another company can be neither linked nor read', async (t) => {
  const { app, strategy, request, path, other, company, stranger } = await arrange(t)
  const made = await strategy()
  const theirs = insertIssue(app.ctx, { company_id: other.id })
  const ours = insertIssue(app.ctx, { company_id: company.id })
  assert.equal((await request('POST', `/api/issues/${theirs.id}/approvals`, { approvalId: made.id })).status, 422)
  const body = { type: 'approve_ceo_strategy', payload: { plan: 'x' }, issueIds: [theirs.id] }
  assert.equal((await request('POST', path, body)).status, 422)
  assert.equal((await request('GET', path)).body.length, 1)
  assert.equal((await stranger.request('GET', path)).status, 403)
  assert.equal((await stranger.request('GET', `/api/approvals/${made.id}`)).status, 404)
  assert.equal((await stranger.request('POST', `/api/approvals/${made.id}/comments`, { body: 'x' })).status, 404)
  assert.equal((await stranger.request('POST', `/api/approvals/${made.id}/cancel`)).status, 404)
  assert.equal((await stranger.request('GET', `/api/issues/${ours.id}/approvals`)).status, 404)
})
