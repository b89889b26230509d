import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'

test('the issue prefix of a company is derived from its name and unique', async (t) => {
  const { make } = createTestApp(t)
  const prefixes = []
  for (const name of ['Walrus Ltd', 'Walnut', 'Wallaby', 'é', '株式会社']) {
    prefixes.push((await make('POST', '/api/companies', { name })).issuePrefix)
  }
  assert.deepEqual(prefixes, ['WAL', 'WALA', 'WALB', 'EX', 'XX'])
})

test('a new company is listed, and its activity records the creator', async (t) => {
  const { make, request } = createTestApp(t)
  const company = await make('POST', '/api/companies', { name: 'Acme', budgetMonthlyCents: 5_000 })
  assert.equal(company.budgetMonthlyCents, 5_000)
  assert.equal(company.spentMonthlyCents, 0)
  assert.deepEqual((await request('GET', '/api/companies')).body, [company])
  assert.deepEqual((await request('GET', `/api/companies/${company.id}`)).body, company)
  const [entry] = (await request('GET', `/api/companies/${company.id}/activity`)).body
  assert.equal(entry.action, 'company.created')
  assert.equal(entry.actorType, 'user')
  assert.equal(entry.entityId, company.id)
})

test('the error names every invalid field, and nothing is created', async (t) => {
  const { request } = createTestApp(t)
  const { status, body } = await request('POST', '/api/companies', { name: '', brandColor: 'red', nmae: 'x' })
  assert.equal(status, 400)
  assert.equal(body.code, 'validation_failed')
  assert.deepEqual(body.details.fields.map((field: { path: string }) => field.path).sort(), [
    'brandColor',
    'name',
    'nmae',
  ])
  assert.deepEqual((await request('GET', '/api/companies')).body, [])
})

test('an unknown company is 404', async (t) => {
  const { request } = createTestApp(t)
  assert.equal((await request('GET', '/api/companies/nope')).status, 404)
  assert.equal((await request('GET', '/api/companies/nope/activity')).status, 404)
})
