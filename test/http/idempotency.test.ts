import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../helpers.ts'

const key = { 'idempotency-key': 'k1' }

test('the same key and body again gets the first answer, and nothing happens twice', async (t) => {
  const { ask, clock } = createTestApp(t)
  const first = await ask('POST', '/api/companies', { name: 'Acme' }, key)
  clock.move(60_000)
  const second = await ask('POST', '/api/companies', { name: 'Acme' }, key)
  assert.equal(second.status, 201)
  assert.deepEqual(second.body, first.body)
  assert.equal((await ask('GET', '/api/companies')).body.length, 1)
})

test('requests with one key that race are done once', async (t) => {
  const { ask } = createTestApp(t)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask('POST', '/api/companies', { name: 'Acme' }, key)),
  )
  assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1)
  assert.equal((await ask('GET', '/api/companies')).body.length, 1)
})

test('another body under the same key is 422', async (t) => {
  const { ask } = createTestApp(t)
  await ask('POST', '/api/companies', { name: 'Acme' }, key)
  const { status, body } = await ask('POST', '/api/companies', { name: 'Other' }, key)
  assert.equal(status, 422)
  assert.equal(body.code, 'idempotency_key_reused')
})

test('a request that failed keeps nothing under its key', async (t) => {
  const { ask } = createTestApp(t)
  assert.equal((await ask('POST', '/api/companies', { name: '' }, key)).status, 400)
  assert.equal((await ask('POST', '/api/companies', { name: 'Acme' }, key)).status, 201)
})

test('a key is forgotten after a day', async (t) => {
  const { ask, clock } = createTestApp(t)
  await ask('POST', '/api/companies', { name: 'Acme' }, key)
  clock.move(25 * 60 * 60 * 1_000)
  assert.equal((await ask('POST', '/api/companies', { name: 'Other' }, key)).status, 201)
})
