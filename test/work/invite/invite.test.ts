import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LOCAL_BOARD } from '../../../src/access/caller/caller.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertAgent, insertCompany, wakeReasons } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { setUp } from '../issue/set-up.ts'

const DAY = 86_400_000

async function withInvite(t: TestContext) {
  const app = await setUp(t)
  const prompt = `/api/companies/${app.company.id}/gateway/invite-prompt`
  const invites = `/api/companies/${app.company.id}/gateway/invites`
  const invite = (await app.request('POST', prompt)).body
  const at = `/api/invites/${invite.token}`
  const accept = (body: object = {}) => app.request('POST', `${at}/accept`, { name: 'Otto', ...body })
  const claim = (claimSecret: string) => app.request('POST', `${at}/claim-key`, { claimSecret })
  return { ...app, prompt, invites, invite, at, accept, claim }
}

test('the invite prompt returns a token, the URL of the onboarding text and the expiry time', async (t) => {
  const { make, request, prompt } = await withInvite(t)
  const invite = await make('POST', prompt, { agentMessage: 'Bring tea.\nAnd cake.' })
  assert.match(invite.token, /^inv_[\w-]{43}$/)
  assert.ok(invite.onboardingTextUrl.endsWith(`/api/invites/${invite.token}/onboarding.txt`))
  assert.deepEqual([invite.expiresAt, invite.expiresInSec], ['2026-11-22T09:00:00.000Z', 86_400])
  const text = await request('GET', invite.onboardingTextPath)
  assert.equal(text.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.match(text.body, /^# Join Walrus\n/)
  assert.match(text.body, /\n> Bring tea\.\n> And cake\.\n/)
})

test('the CEO agent can create invites; managers and other agents get 403', async (t) => {
  const { cleo, mia, ada, prompt, invites } = await withInvite(t)
  assert.equal((await cleo.request('POST', prompt, { agentMessage: null })).status, 201)
  for (const one of [mia, ada]) {
    assert.equal((await one.request('POST', prompt)).status, 403)
    assert.equal((await one.request('GET', invites)).status, 403)
  }
})

test('accepting an invite creates a pending agent under the CEO and an approval for the board', async (t) => {
  const { request, accept, cleo, ada, company } = await withInvite(t)
  const { status, body } = await accept({ role: 'researcher', capabilities: 'Finds things.' })
  assert.deepEqual([status, body.status], [201, 'pending_approval'])
  const agent = (await request('GET', `/api/agents/${body.agentId}`)).body
  assert.deepEqual(
    [agent.name, agent.role, agent.status, agent.adapterType, agent.reportsTo],
    ['Otto', 'researcher', 'pending_approval', 'none', cleo.id],
  )
  const approval = (await request('GET', `/api/approvals/${body.approvalId}`)).body
  assert.deepEqual(
    [approval.type, approval.status, approval.agentId, approval.requestedByUserId],
    ['hire_agent', 'pending', agent.id, LOCAL_BOARD.userId],
  )
  assert.equal(approval.payload.capabilities, 'Finds things.')
  const [latest] = (await ada.request('GET', `/api/companies/${company.id}/activity?action=invite.accepted`)).body
  assert.deepEqual([latest.actorType, latest.agentId], ['system', agent.id])
})

test('after approval the key can be claimed exactly once, and authenticates requests', async (t) => {
  const { accept, claim, make, as, company } = await withInvite(t)
  const { claimSecret, approvalId, agentId } = (await accept()).body
  const early = await claim(claimSecret)
  assert.deepEqual([early.status, early.body.code], [422, 'agent_not_ready'])
  await make('POST', `/api/approvals/${approvalId}/approve`)
  assert.equal((await claim(`${claimSecret}x`)).status, 403)
  const [first, second] = await Promise.all([claim(claimSecret), claim(claimSecret)])
  assert.deepEqual([first.status, second.status], [201, 409])
  const me = await as(first.body.token)('GET', '/api/agents/me')
  assert.deepEqual([me.status, me.body.id, me.body.companyId], [200, agentId, company.id])
})

test('an agent that the board rejects gets no key', async (t) => {
  const { accept, claim, make } = await withInvite(t)
  const { claimSecret, approvalId } = (await accept()).body
  await make('POST', `/api/approvals/${approvalId}/reject`)
  const { status, body } = await claim(claimSecret)
  assert.deepEqual([status, body.details.status], [422, 'terminated'])
})

test('an invite can be accepted only once', async (t) => {
  const { accept } = await withInvite(t)
  const responses = await Promise.all([accept(), accept({ name: 'Other' })])
  assert.deepEqual(responses.map((one) => one.status).sort(), [201, 409])
})

test('an invite expires after one day; after acceptance its key can be claimed for 30 days', async (t) => {
  const { accept, claim, make, clock, prompt, request, at, invites } = await withInvite(t)
  const late = await make('POST', prompt)
  const { claimSecret, approvalId } = (await accept()).body
  clock.move(DAY)
  for (const [method, path] of [
    ['GET', late.onboardingTextPath],
    ['POST', `/api/invites/${late.token}/accept`],
  ] as const) {
    const { status, body } = await request(method, path, method === 'POST' ? { name: 'Late' } : undefined)
    assert.deepEqual([status, /has expired/.test(body.error)], [404, true])
  }
  assert.equal((await request('GET', `${at}/onboarding.txt`)).status, 200)
  const statuses = async () => (await request('GET', invites)).body.map((one: { status: string }) => one.status)
  assert.deepEqual(await statuses(), ['expired', 'accepted'])
  await make('POST', `/api/approvals/${approvalId}/approve`)
  clock.move(28 * DAY)
  assert.equal((await claim(claimSecret)).status, 201)
  assert.deepEqual(await statuses(), ['expired', 'claimed'])
})

test('after 30 days a key can no longer be claimed', async (t) => {
  const { accept, claim, make, clock } = await withInvite(t)
  const { claimSecret, approvalId } = (await accept()).body
  await make('POST', `/api/approvals/${approvalId}/approve`)
  clock.move(30 * DAY)
  assert.equal((await claim(claimSecret)).status, 409)
})

test('a revoked invite can be neither read, accepted nor claimed; a claimed invite cannot be revoked', async (t) => {
  const { accept, claim, request, make, invites, invite, at, prompt } = await withInvite(t)
  const { claimSecret, approvalId } = (await accept()).body
  await make('POST', `/api/approvals/${approvalId}/approve`)
  const revoked = await make('DELETE', `${invites}/${invite.id}`)
  assert.equal(revoked.status, 'revoked')
  assert.deepEqual(await make('DELETE', `${invites}/${invite.id}`), revoked)
  assert.equal((await claim(claimSecret)).status, 404)
  assert.equal((await request('GET', `${at}/onboarding.txt`)).status, 404)

  const other = await make('POST', prompt)
  const taken = await make('POST', `/api/invites/${other.token}/accept`, { name: 'Otto' })
  await make('POST', `/api/approvals/${taken.approvalId}/approve`)
  await make('POST', `/api/invites/${other.token}/claim-key`, { claimSecret: taken.claimSecret })
  assert.equal((await request('DELETE', `${invites}/${other.id}`)).status, 409)
})

test('the database and the idempotency records contain neither the token nor the claim secret', async (t) => {
  const { accept, request, ctx, prompt, invite } = await withInvite(t)
  const { claimSecret } = (await accept()).body
  const again = { 'idempotency-key': 'one' }
  const first = await request('POST', prompt, {}, again)
  assert.equal((await request('POST', prompt, {}, again)).status, 409)
  const stored = JSON.stringify([
    ctx.db.all(sql.selectFrom('invite').selectAll()),
    ctx.db.all(sql.selectFrom('idempotency').selectAll()),
    ctx.db.all(sql.selectFrom('activity').selectAll()),
    ctx.db.all(sql.selectFrom('approval').selectAll()),
  ])
  for (const secret of [invite.token, claimSecret, first.body.token]) assert.ok(!stored.includes(secret))
})

test('an invite cannot create a CEO or an agent with an adapter that runs programs on this machine', async (t) => {
  const { accept, ctx } = await withInvite(t)
  assert.equal((await accept({ role: 'ceo' })).status, 422)
  assert.equal((await accept({ adapterType: 'process', adapterConfig: { command: 'sh' } })).status, 400)
  assert.equal((await accept({ adapterConfig: { url: 'https://agent.example' } })).status, 400)
  assert.equal((await accept({ adapterType: 'http' })).status, 400)
  assert.equal(ctx.db.all(sql.selectFrom('approval').selectAll()).length, 0)
  const joined = await accept({ adapterType: 'http', adapterConfig: { url: 'https://agent.example' } })
  assert.equal(joined.status, 201)
})

test('the CEO is the requester of an approval from its invite: the decision wakes it', async (t) => {
  const { cleo, make, prompt, ctx } = await withInvite(t)
  const { token } = (await cleo.request('POST', prompt)).body
  const { approvalId } = await make('POST', `/api/invites/${token}/accept`, { name: 'Otto' })
  await make('POST', `/api/approvals/${approvalId}/approve`)
  assert.deepEqual(
    wakeReasons(ctx, cleo).map((reason) => [reason.source, reason.approvalId]),
    [['approval_resolved', approvalId]],
  )
})

test('an external agent is never woken: its issues stay in its inbox', async (t) => {
  const { accept, make, request, claim, as, create, ctx } = await withInvite(t)
  const { claimSecret, approvalId, agentId } = (await accept()).body
  await make('POST', `/api/approvals/${approvalId}/approve`)
  const issue = await create({ assigneeAgentId: agentId })
  assert.deepEqual(wakeReasons(ctx, { id: agentId }), [])
  assert.equal((await request('POST', `/api/agents/${agentId}/heartbeat/invoke`)).status, 422)
  const { token } = (await claim(claimSecret)).body
  const inbox = (await as(token)('GET', '/api/agents/me/inbox')).body
  assert.deepEqual(
    inbox.map((item: { id: string }) => item.id),
    [issue.id],
  )
})

test('every request with an unknown token returns 404', async (t) => {
  const { request } = await withInvite(t)
  assert.equal((await request('GET', '/api/invites/inv_nope/onboarding.txt')).status, 404)
  assert.equal((await request('POST', '/api/invites/inv_nope/accept', { name: 'X' })).status, 404)
  assert.equal((await request('POST', '/api/invites/inv_nope/claim-key', { claimSecret: 'x' })).status, 404)
})

test('in authenticated mode an external agent needs only its invite', async (t) => {
  const app = createTestApp(t, { mode: 'authenticated' })
  const ceo = insertAgent(app, { company_id: insertCompany(app.ctx), role: 'ceo' })
  const { body: invite } = await ceo.request('POST', `/api/companies/${ceo.company_id}/gateway/invite-prompt`)
  assert.equal((await app.request('GET', `/api/companies/${ceo.company_id}/gateway/invites`)).status, 401)
  assert.equal((await app.request('GET', invite.onboardingTextPath)).status, 200)
  const { status, body } = await app.request('POST', `/api/invites/${invite.token}/accept`, { name: 'Otto' })
  assert.equal(status, 201)
  app.ctx.db.run(sql.updateTable('agent').set({ status: 'idle' }).where('id', '=', body.agentId))
  const claimed = await app.request('POST', body.claimKeyPath, { claimSecret: body.claimSecret })
  assert.equal(claimed.status, 201)
  assert.equal((await app.as(claimed.body.token)('GET', '/api/agents/me')).status, 200)
})
