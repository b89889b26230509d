import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTypingErrorOf } from '../../src/http/validate-query.ts'
import { setUp } from '../work/issue/set-up.ts'

test('a query parameter one typing error away from a known one is 400; other unknown parameters are ignored', async (t) => {
  const { request, issues, create } = await setUp(t)
  await create()
  for (const name of ['stauts', 'statu', 'statuss', 'statsu', 'stetus', 'xstatus']) {
    const { status, body } = await request('GET', `${issues}?${name}=done`)
    assert.equal(status, 400, name)
    assert.deepEqual(body.details.fields, [
      { path: name, message: 'is not a parameter of this request. Did you mean status?' },
    ])
  }
  for (const name of ['state', 'p', 'include', 'view', 'qq']) {
    assert.equal((await request('GET', `${issues}?${name}=done`)).body.length, 1, name)
  }
})

test('isTypingErrorOf accepts one changed, missing, added or swapped character', () => {
  assert.equal(isTypingErrorOf('limit', 'limit'), false)
  assert.equal(isTypingErrorOf('lmiit', 'limit'), true)
  assert.equal(isTypingErrorOf('limti', 'limit'), true)
  assert.equal(isTypingErrorOf('imit', 'limit'), true)
  assert.equal(isTypingErrorOf('tilim', 'limit'), false)
  assert.equal(isTypingErrorOf('kid', 'key'), false)
  assert.equal(isTypingErrorOf('kin', 'kind'), true)
})
