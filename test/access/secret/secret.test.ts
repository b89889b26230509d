import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from '../../../src/platform/database/sql.ts'
import { createVault } from '../../../src/platform/vault.ts'
import { openEnv } from '../../../src/work/project/env.ts'
import { findProject } from '../../../src/work/project/queries.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'
import { createTestRuns } from '../../runs.ts'
import { filesWith, formsOf } from './find.ts'

const VALUE = 'canary value/with+signs=42'

async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t)
  const people = await arrangeCompany(app)
  const at = `/api/companies/${people.company.id}/secrets`
  return { ...app, ...people, app, at }
}

const agentWith = (app: Pick<TestApp, 'make'>, companyId: string, env: object) =>
  app.make('POST', `/api/companies/${companyId}/agents`, {
    name: 'Kit',
    role: 'engineer',
    adapterType: 'process',
    adapterConfig: { command: 'true', env },
  })

test('stores, lists, rotates and deletes a secret, and no response, activity or log contains its value', async (t) => {
  const { request, at, app, company, logged } = await arrange(t)
  const responses = [
    await request('POST', at, { name: 'API_KEY', value: VALUE, description: 'of the map' }, { 'idempotency-key': 'k' }),
    await request('POST', at, { name: 'API_KEY', value: VALUE, description: 'of the map' }, { 'idempotency-key': 'k' }),
  ]
  const { id } = responses[0]!.body
  assert.equal(responses[0]!.status, 201)
  assert.equal(responses[1]!.body.id, id)
  responses.push(await request('GET', at), await request('GET', `/api/secrets/${id}`))
  responses.push(await request('POST', `/api/secrets/${id}/rotate`, { value: `${VALUE}, another` }))
  assert.equal(responses.at(-1)!.body.version, 2)
  responses.push(
    await request('DELETE', `/api/secrets/${id}`),
    await request('GET', `/api/companies/${company.id}/activity`),
  )
  const actions = responses.at(-1)!.body.map((row: { action: string }) => row.action)
  assert.deepEqual(actions.slice(0, 3), ['secret.deleted', 'secret.rotated', 'secret.created'])
  assert.deepEqual((await request('GET', at)).body, [])
  for (const form of formsOf(VALUE)) assert.ok(!JSON.stringify([responses, logged]).includes(form), form)
  assert.deepEqual(filesWith(app.config.dataDir, VALUE), [])
})

test('refuses a duplicate name, and a value that cannot be redacted or be an environment variable', async (t) => {
  const { request, make, at } = await arrange(t)
  const secret = await make('POST', at, { name: 'API_KEY', value: VALUE })
  const again = await request('POST', at, { name: 'API_KEY', value: VALUE })
  assert.equal(again.status, 409)
  assert.equal(again.body.details.secretId, secret.id)
  for (const body of [
    { name: 'X', value: 'short' },
    { name: 'with space', value: VALUE },
    { name: 'X', value: 7 },
    { name: 'X', value: `${VALUE}\0` },
  ]) {
    assert.equal((await request('POST', at, body)).status, 400, JSON.stringify(body))
  }
})

test('agents may list secret names; only the board may store, rotate and delete secrets', async (t) => {
  const { make, at, ceo, stranger, request } = await arrange(t)
  const { id } = await make('POST', at, { name: 'API_KEY', value: VALUE })
  assert.deepEqual(
    (await ceo.request('GET', at)).body.map((secret: { name: string }) => secret.name),
    ['API_KEY'],
  )
  const refused = [
    await ceo.request('POST', at, { name: 'OTHER', value: VALUE }),
    await ceo.request('GET', `/api/secrets/${id}`),
    await ceo.request('POST', `/api/secrets/${id}/rotate`, { value: VALUE }),
    await ceo.request('DELETE', `/api/secrets/${id}`),
    await stranger.request('GET', at),
  ]
  assert.deepEqual(
    refused.map((response) => response.status),
    [403, 403, 403, 403, 403],
  )
  assert.equal((await request('GET', '/api/secrets/nowhere')).status, 404)
})

test('refuses to delete a secret in use without force, and lists its uses', async (t) => {
  const { make, request, at, app, company } = await arrange(t)
  const { id } = await make('POST', at, { name: 'API_KEY', value: VALUE })
  const agent = await agentWith(app, company.id, { KEY: { $secret: 'API_KEY' } })
  const project = await make('POST', `/api/companies/${company.id}/projects`, {
    name: 'Map',
    env: { KEY: { $secret: 'API_KEY' } },
  })
  const usedBy = [
    { type: 'agent', id: agent.id, name: 'Kit' },
    { type: 'project', id: project.id, name: 'Map' },
  ]
  assert.deepEqual((await request('GET', `/api/secrets/${id}`)).body.usedBy, usedBy)
  const refused = await request('DELETE', `/api/secrets/${id}`)
  assert.equal(refused.status, 409)
  assert.match(refused.body.error, /the agent Kit, the project Map/)
  assert.deepEqual(refused.body.details, { usedBy })
  assert.equal((await request('DELETE', `/api/secrets/${id}?force=true`)).status, 200)
})

test('redacts the env of a project, keeps the values on a round trip, and refuses changes by agents', async (t) => {
  const { make, request, company, ceo, app } = await arrange(t)
  const at = `/api/companies/${company.id}/projects`
  const env = { PLAIN: 'plain value', KEY: { $secret: 'API_KEY' } }
  const displayed = { PLAIN: '[redacted]', KEY: { $secret: 'API_KEY' } }
  const project = await make('POST', at, { name: 'Map', env })
  assert.deepEqual(project.env, displayed)
  await make('PATCH', `/api/projects/${project.id}`, { env: { ...displayed, MORE: 'x' } })
  assert.deepEqual(openEnv(app.ctx, findProject(app.ctx.db, { id: project.id })!), { ...env, MORE: 'x' })
  assert.equal((await request('PATCH', `/api/projects/${project.id}`, { env: { NEW: '[redacted]' } })).status, 400)
  assert.equal((await request('PATCH', `/api/projects/${project.id}`, { env: { LD_PRELOAD: '/x.so' } })).status, 400)
  assert.equal((await ceo.request('PATCH', `/api/projects/${project.id}`, { env: {} })).status, 403)
  assert.equal((await ceo.request('POST', at, { name: 'Mine', env: {} })).status, 403)
})

test('a run has its secrets in its environment, and its output and the data directory never contain them', async (t) => {
  const runs = await createTestRuns(t)
  const { make, request, agentThat, runUntilIdle, companyId, config } = runs
  const others = { OF_PROJECT: 'the project has another one', PLAIN_TOKEN: 'a token that is in the config' }
  const at = `/api/companies/${companyId}/secrets`
  await make('POST', at, { name: 'API_KEY', value: VALUE })
  await make('POST', at, { name: 'OF_PROJECT', value: others.OF_PROJECT })
  const project = await make('POST', `/api/companies/${companyId}/projects`, {
    name: 'Map',
    env: { B: { $secret: 'OF_PROJECT' }, KEY: 'the agent has its own', C: 'plain' },
  })
  const agent = await agentThat('says-secrets.js', {
    args: ['KEY', 'B', 'C', 'PLAIN_TOKEN', 'GITHUB', 'DATABASE'],
    config: {
      env: {
        KEY: { $secret: 'API_KEY' },
        PLAIN_TOKEN: others.PLAIN_TOKEN,
        GITHUB: 'ghp_abcdefghij1234567890',
        DATABASE: 'postgres://walrus:tusk-of-ivory@db.example/tides',
      },
    },
  })
  const issue = { title: 'Draw', projectId: project.id, assigneeAgentId: agent }
  await make('POST', `/api/companies/${companyId}/issues`, issue)
  await runUntilIdle()
  const [run] = await runs.runs()
  assert.equal(run.status, 'succeeded', run.error)
  const { body } = await request('GET', `/api/runs/${run.id}/log`)
  const log = typeof body === 'string' ? body : JSON.stringify(body)
  assert.match(log, /KEY=<\*+|KEY=<\[?redacted/i)
  assert.match(log, /C=<plain>/)
  for (const value of [VALUE, others.OF_PROJECT]) {
    for (const form of formsOf(value)) assert.ok(!log.includes(form), form)
    assert.deepEqual(filesWith(config.dataDir, value), [])
  }
  for (const form of formsOf(others.PLAIN_TOKEN)) assert.ok(!log.includes(form), form)
  // A value that looks like a secret is redacted, whatever the name of its variable.
  for (const value of ['ghp_abcdefghij1234567890', 'tusk-of-ivory']) assert.ok(!log.includes(value), value)
  assert.match(log, /@db\.example\/tides/)
})

test('a run with an unknown or undecryptable secret fails with an error that names the secret', async (t) => {
  const { make, request, agentThat, runUntilIdle, companyId, ctx, runs, clock } = await createTestRuns(t)
  const agent = await agentThat('succeed.js', { config: { env: { KEY: { $secret: 'API_KEY' } } } })
  const go = async () => {
    await request('POST', `/api/agents/${agent}/heartbeat/invoke`)
    await runUntilIdle()
    clock.move(60 * 60_000)
    return (await runs()).at(-1)
  }
  const unknown = await go()
  assert.equal(unknown.errorCode, 'unknown_secret')
  assert.match(unknown.error, /no secret named API_KEY/)
  const { id } = await make('POST', `/api/companies/${companyId}/secrets`, { name: 'API_KEY', value: VALUE })
  const elsewhere = createVault(new Uint8Array(32).fill(1))
  const sealed = elsewhere.seal({ companyId, name: 'API_KEY' }, VALUE)
  ctx.db.run(sql.updateTable('secret').set({ sealed }))
  const unreadable = await go()
  assert.equal(unreadable.errorCode, 'secret_unreadable')
  assert.match(unreadable.error, /API_KEY cannot be decrypted/)
  await make('POST', `/api/secrets/${id}/rotate`, { value: VALUE })
  assert.equal((await go()).status, 'succeeded')
})

test('a sealed value opens only in its own location, and not after a change of one bit', () => {
  const vault = createVault(new Uint8Array(32).fill(3))
  const place = { companyId: 'a', name: 'KEY' }
  const sealed = vault.seal(place, VALUE)
  assert.equal(vault.open(place, sealed), VALUE)
  assert.notEqual(vault.seal(place, VALUE), sealed)
  assert.equal(vault.open({ ...place, name: 'OTHER' }, sealed), undefined)
  assert.equal(vault.open({ ...place, companyId: 'b' }, sealed), undefined)
  const bytes = Buffer.from(sealed, 'base64')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    assert.equal(vault.open(place, changed.toString('base64')), undefined, `byte ${i}`)
  }
  assert.equal(vault.open(place, ''), undefined)
})

test('deleting a company deletes its secrets', async (t) => {
  const { make, at, app, company } = await arrange(t)
  await make('POST', at, { name: 'API_KEY', value: VALUE })
  await make('DELETE', `/api/companies/${company.id}?confirm=${encodeURIComponent(company.name)}`)
  assert.deepEqual(app.ctx.db.all(sql.selectFrom('secret').selectAll()), [])
})

test('the encryption key is a separate file that only the server can read', async (t) => {
  const { startTestServer } = await import('../../server.ts')
  const { dataDir } = await startTestServer(t)
  const file = path.join(dataDir, 'keys', 'secret.key')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(file).size, 32)
  assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700)
})
