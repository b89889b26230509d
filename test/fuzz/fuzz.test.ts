import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { anyone } from '../../src/access/caller/who.ts'
import { route } from '../../src/access/route.ts'
import { fuzz } from './fuzz.ts'
import { send } from './send.ts'

for (const mode of ['local_trusted', 'authenticated'] as const) {
  test(`600 requests in ${mode} mode return declared responses without 5xx, and leak no secret`, async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    t.diagnostic(`seed ${seed}: npm run prove:fuzz -- --requests 1500 --seed ${seed} --mode ${mode}`)
    const responses = await fuzz(t, { seed, requests: 600, mode })
    const statuses = [...responses.values()].flatMap((counts) => [...counts])
    const taken = statuses.filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0)
    assert.ok(taken > 120, `only ${taken} requests were good enough to be taken: what is sent reaches nothing`)
    assert.ok(responses.size > 80, `only ${responses.size} endpoints were asked`)
  })
}

test('the fuzzer detects a route that accepts a body that its schema refuses', async () => {
  const endpoint = route({
    id: 'things.create',
    method: 'POST',
    path: '/things',
    summary: 'Create a thing',
    who: [anyone],
    body: v.strictObject({}),
    responses: { 201: v.strictObject({}) },
    run: () => ({}),
  })
  const request = { method: 'POST', path: '/things', body: '{"x":1}', headers: {}, isValid: false, params: {} }
  const known = { ids: new Map(), places: new Map() }
  const takes = async () => ({ status: 201, headers: new Headers(), body: {} })
  await assert.rejects(send(takes, endpoint, request, known), /took what its schema refuses/)
})
