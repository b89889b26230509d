import assert from 'node:assert/strict'
import { test } from 'node:test'
import { v7 as uuid } from 'uuid'
import { companySpend } from '../../../src/organization/cost/queries.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertRun } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t)
  const people = await arrangeCompany(app)
  const path = `/api/companies/${people.company.id}`
  const events: string[] = []
  app.ctx.events.subscribe((event) => events.push(event.type))
  const patch = async (change: object) => (await app.request('PATCH', path, change)).body
  const spend = (micros: number) =>
    app.ctx.db.run(
      sql.insertInto('cost_event').values({
        id: uuid(),
        company_id: people.company.id,
        provider: 'p',
        model: 'm',
        cost_micros: micros,
        cost_status: 'reported',
        occurred_at: app.ctx.now,
        created_at: app.ctx.now,
      }),
    )
  return { ...app, ...people, app, path, patch, spend, events }
}

test('the board may change every field of a company', async (t) => {
  const { patch, request, path } = await arrange(t)
  const change = {
    name: 'Walrus',
    description: 'Tusks',
    brandColor: '#0a0b0c',
    logoAssetId: null,
    status: 'paused',
    budgetMonthlyCents: 7_500,
    spentMonthlyCents: 1_234,
    requireBoardApprovalForNewAgents: true,
  }
  const body = await patch(change)
  assert.deepEqual({ ...body, ...change }, body)
  assert.deepEqual((await request('GET', path)).body, body)
  assert.equal(body.pauseReason, 'manual')
  assert.equal(body.pausedAt, '2026-11-21T09:00:00.000Z')
})

test('the CEO may change the name, description and branding of its company', async (t) => {
  const { ceo, path } = await arrange(t)
  const change = { name: 'Walrus', description: null, brandColor: '#112233', logoAssetId: null }
  const { status, body } = await ceo.request('PATCH', path, change)
  assert.equal(status, 200)
  assert.deepEqual({ ...body, ...change }, body)
})

for (const [field, value] of Object.entries({
  status: 'paused',
  budgetMonthlyCents: 1,
  spentMonthlyCents: 0,
  requireBoardApprovalForNewAgents: false,
})) {
  test(`refuses a PATCH by the CEO that contains ${field}`, async (t) => {
    const { ceo, path, request } = await arrange(t)
    const before = (await request('GET', path)).body
    const { status, body } = await ceo.request('PATCH', path, { name: 'Walrus', [field]: value })
    assert.equal(status, 403)
    assert.deepEqual(body.details.fields, [field])
    assert.deepEqual((await request('GET', path)).body, before)
  })
}

test('no caller may change the issue prefix', async (t) => {
  const { ceo, path, request } = await arrange(t)
  for (const caller of [request, ceo.request]) {
    const { status, body } = await caller('PATCH', path, { name: 'x', issuePrefix: 'NEW' })
    assert.equal(status, 400)
    assert.match(body.error, /issuePrefix: is immutable/)
  }
  assert.equal((await request('GET', path)).body.name, 'Acme')
})

test('other agents may not change a company', async (t) => {
  const { engineer, stranger, ceo, path } = await arrange(t)
  for (const [method, at, body] of [
    ['PATCH', '', { name: 'x' }],
    ['PATCH', '/branding', { name: 'x' }],
    ['PATCH', '/budgets', { budgetMonthlyCents: 1 }],
    ['POST', '/archive', undefined],
    ['DELETE', '?confirm=Acme', undefined],
  ] as const) {
    for (const agent of [engineer, stranger]) {
      assert.equal((await agent.request(method, path + at, body)).status, 403, method + at)
    }
    if (at !== '' && at !== '/branding') assert.equal((await ceo.request(method, path + at, body)).status, 403)
  }
})

test('a logo must be an asset of the company', async (t) => {
  const { request, path, other } = await arrange(t)
  const form = new FormData()
  form.append('file', new File(['GIF89a..'], 'x.gif'))
  const foreign = (await request('POST', `/api/companies/${other.id}/logo`, form)).body
  for (const logoAssetId of [foreign.assetId, uuid()]) {
    const { status, body } = await request('PATCH', path, { logoAssetId })
    assert.equal(status, 422)
    assert.equal(body.details.fields[0].path, 'logoAssetId')
  }
})

test('a spend set by the board is recorded as a correction, and the totals match', async (t) => {
  const { app, patch, spend, company, clock } = await arrange(t)
  spend(1_234_567)
  assert.equal((await patch({ spentMonthlyCents: 5_000 })).spentMonthlyCents, 5_000)
  assert.equal(companySpend(app.ctx.db, { companyId: company.id, now: app.ctx.now }), 50_000_000)
  assert.equal((await patch({ spentMonthlyCents: 0 })).spentMonthlyCents, 0)
  const events = app.ctx.db.all(sql.selectFrom('cost_event').selectAll().orderBy('id').offset(1).limit(10))
  assert.deepEqual(
    events.map((event) => [event.agent_id, event.provider, event.model, event.cost_status, event.cost_micros]),
    [
      [null, 'service', 'correction', 'reported', 50_000_000 - 1_234_567],
      [null, 'service', 'correction', 'reported', -50_000_000],
    ],
  )
  clock.set('2026-12-01T00:00:00.000Z')
  assert.equal((await patch({ spentMonthlyCents: 10 })).spentMonthlyCents, 10)
  assert.equal(companySpend(app.ctx.db, { companyId: company.id, now: '2026-11-30T00:00:00.000Z' }), 0)
})

test('setting the displayed spend records nothing', async (t) => {
  const { app, patch, spend } = await arrange(t)
  spend(12_345)
  assert.equal((await patch({ spentMonthlyCents: 1 })).spentMonthlyCents, 1)
  assert.equal(app.ctx.db.all(sql.selectFrom('cost_event').select('id')).length, 1)
})

test('a budget up to the spend pauses the company, and a higher budget resumes it', async (t) => {
  const { patch, spend, events, path, request } = await arrange(t)
  spend(30_000_000)
  const paused = await patch({ budgetMonthlyCents: 3_000 })
  assert.equal(paused.status, 'paused')
  assert.equal(paused.pauseReason, 'budget')
  assert.ok(events.includes('company.budget_changed'))
  const resumed = (await request('PATCH', `${path}/budgets`, { budgetMonthlyCents: 3_001 })).body
  assert.equal(resumed.status, 'active')
  assert.equal(resumed.pauseReason, null)
  assert.equal((await patch({ spentMonthlyCents: 9_999 })).pauseReason, 'budget')
  assert.equal((await patch({ budgetMonthlyCents: 0 })).status, 'active')
})

test('a budget change does not resume a company that the board paused', async (t) => {
  const { patch, spend } = await arrange(t)
  spend(30_000_000)
  await patch({ budgetMonthlyCents: 1 })
  assert.equal((await patch({ status: 'paused' })).pauseReason, 'manual')
  assert.equal((await patch({ budgetMonthlyCents: 0 })).status, 'paused')
  assert.equal((await patch({ status: 'active' })).status, 'active')
})

for (const status of ['paused', 'archived']) {
  test(`the runs of a company that becomes ${status} are stopped once`, async (t) => {
    const { app, ceo, patch, events } = await arrange(t)
    await insertRun(app, ceo)
    await patch({ status })
    await patch({ status })
    assert.deepEqual(
      events.filter((type) => type === 'run.stopping' || type === 'company.budget_changed'),
      ['run.stopping', 'company.budget_changed'],
    )
  })
}

test('an archived company is read-only until the board makes it active again', async (t) => {
  const { request, path, patch, ceo, company } = await arrange(t)
  assert.equal((await request('POST', `${path}/archive`)).body.status, 'archived')
  assert.equal((await request('POST', `${path}/archive`)).status, 200, 'twice is the same as once')
  assert.equal((await ceo.request('PATCH', path, { name: 'x' })).status, 422)
  assert.equal((await request('PATCH', path, { budgetMonthlyCents: 1 })).status, 422)
  assert.equal((await request('POST', `${path}/goals`, { title: 'x' })).status, 422)
  assert.equal((await request('GET', `${path}/goals`)).status, 200)
  const back = await patch({ status: 'active', name: 'Back' })
  assert.equal(back.status, 'active')
  assert.equal(back.name, 'Back')
  assert.equal((await request('POST', `${path}/goals`, { title: 'x' })).status, 201)
  const actions = (await request('GET', `${path}/activity?entityId=${company.id}`)).body.map(
    (entry: { action: string }) => entry.action,
  )
  assert.deepEqual(actions, ['company.resumed', 'company.archived', 'company.created'])
})

test('setting fields to their current values records nothing', async (t) => {
  const { patch, request, path, events, company } = await arrange(t)
  await patch({ name: 'Acme', status: 'active', budgetMonthlyCents: 0, spentMonthlyCents: 0, brandColor: null })
  assert.deepEqual(events, [])
  assert.equal((await request('GET', `${path}/activity?entityId=${company.id}`)).body.length, 1)
})
