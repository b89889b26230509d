import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { redact } from '../../../src/access/redaction/redact.ts'
import { sealedIn } from '../../../src/access/redaction/sealed.ts'
import { open, seal } from '../../../src/access/secret/seal.ts'
import { configOf } from '../../../src/organization/agent/configuration.ts'
import { findAgent } from '../../../src/organization/agent/queries.ts'
import type { Context } from '../../../src/platform/context.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { createVault } from '../../../src/platform/vault.ts'
import { findProject } from '../../../src/work/project/queries.ts'
import { createTestApp, temporaryFolder } from '../../helpers.ts'
import { makeAgent, makeCompany, plainConfig } from '../../make.ts'
import { importNew } from '../../portability/fixtures.ts'
import { createTestRuns } from '../../runs.ts'
import { startTestServer } from '../../server.ts'

const VALUE = 'the value of it'
const ADAPTER = { adapterType: 'process', adapterConfig: { command: 'true', env: { PLACE: VALUE } } }

const vault = createVault(new Uint8Array(32).fill(3))
const PLACE = { companyId: 'a', name: 'agent/b' }
const elsewhere = createVault(new Uint8Array(32).fill(1))

test('a sealed configuration opens to the same values and has the same redacted form', () => {
  const key = fc.oneof(fc.string(), fc.constantFrom('env', 'headers', 'apiKey', 'token', '__proto__', 'args'))
  const text = fc.oneof(fc.string(), fc.constantFrom('--api-key', '--token=x', 'sk-1abcdefghijklmnopq', 'ftp://u:p@h'))
  const leaf = fc.oneof(
    text,
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.constant({ $secret: 'N' }),
  )
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(leaf, fc.array(tie('json')), fc.dictionary(key, tie('json'))),
  }))
  fc.assert(
    fc.property(fc.dictionary(key, json), (sent) => {
      const plain = JSON.parse(JSON.stringify(sent))
      const stored = JSON.parse(JSON.stringify(seal(vault, PLACE, plain)))
      const displayed = JSON.stringify(redact(plain))
      assert.equal(JSON.stringify(open(vault, PLACE, stored)), JSON.stringify(plain))
      assert.equal(JSON.stringify(redact(stored)), displayed)
      assert.equal(sealedIn(stored, '').length > 0, displayed !== JSON.stringify(plain))
      const unopened = open(elsewhere, PLACE, stored)
      assert.deepEqual(unopened, stored)
      assert.deepEqual(seal(vault, PLACE, unopened), stored, 'what does not open is kept as it is')
    }),
  )
})

test('sending the same values again changes no row and records no revision', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const metadata = { password: VALUE }
  const agent = await makeAgent(app, companyId, { ...ADAPTER, metadata })
  const project = await app.make('POST', `/api/companies/${companyId}/projects`, { name: 'Map', env: { PLACE: VALUE } })
  const rows = () => [findAgent(app.ctx.db, { id: agent.id }), findProject(app.ctx.db, { id: project.id })]
  const before = rows()
  app.clock.move(60_000)
  for (const value of [VALUE, '[redacted]']) {
    await app.make('PATCH', `/api/agents/${agent.id}`, {
      adapterConfig: { env: { PLACE: value } },
      metadata: { password: value },
    })
    await app.make('PATCH', `/api/projects/${project.id}`, { env: { PLACE: value } })
  }
  assert.deepEqual(rows(), before)
  assert.equal((await app.request('GET', `/api/agents/${agent.id}/config-revisions`)).body.length, 1)
})

test('refuses a sealed value from a client', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const at = `/api/companies/${companyId}`
  const agent = await makeAgent(app, companyId, { ...ADAPTER, metadata: { password: VALUE } })
  const project = await app.make('POST', `${at}/projects`, { name: 'Map', env: { PLACE: VALUE } })
  const row = findAgent(app.ctx.db, { id: agent.id })!
  const { PLACE: own } = JSON.parse(row.adapter_config).env
  assert.deepEqual(Object.keys(own), ['$sealed', 'shown'])
  const before = JSON.stringify([row, findProject(app.ctx.db, { id: project.id })])
  for (const sealed of [own, { $sealed: 'x' }, { $sealed: null, shown: 'y' }, { $sealed: 'x', more: 1 }]) {
    const bodies = [
      { adapterType: 'process', adapterConfig: { command: 'true', env: { PLACE: sealed } } },
      { adapterType: 'process', adapterConfig: { command: 'true', args: [sealed] } },
      { adapterType: 'http', adapterConfig: { url: 'http://localhost/', headers: { x: sealed } } },
      { metadata: { deep: [{ password: sealed }] } },
      { metadata: sealed },
    ]
    const requested = await Promise.all([
      ...bodies.map((body) => app.request('POST', `${at}/agents`, { name: 'Ann', ...body })),
      ...bodies.map((body) => app.request('POST', `${at}/agent-hires`, { name: 'Ann', ...body })),
      ...bodies.map((body) => app.request('PATCH', `/api/agents/${agent.id}`, body)),
      app.request('POST', `${at}/projects`, { name: 'Other', env: { PLACE: sealed } }),
      app.request('PATCH', `/api/projects/${project.id}`, { env: { PLACE: sealed } }),
      app.request('POST', `${at}/approvals`, {
        type: 'approve_ceo_strategy',
        payload: { plan: 'Grow', deep: [sealed] },
      }),
    ])
    assert.deepEqual(
      requested.map(({ status }) => status),
      requested.map(() => 400),
    )
  }
  const after = JSON.stringify([findAgent(app.ctx.db, { id: agent.id }), findProject(app.ctx.db, { id: project.id })])
  assert.equal(after, before)
})

test('an import omits a sealed value in a package, with a warning', async (t) => {
  const app = createTestApp(t)
  const config = `{command: "true", args: [{$sealed: x, shown: y}], env: {A: {$sealed: x, shown: y}}}`
  const { target, warnings } = await importNew(app, {
    'COMPANY.md': '---\nname: Acme\n---\n',
    'agents/a/AGENTS.md': '---\nname: A\n---\n',
    '.service.yaml': `agents:\n  a: {adapter: {type: process, config: ${config}}}\n`,
  })
  const [agent] = (await app.request('GET', `/api/companies/${target.companyId}/agents`)).body
  assert.deepEqual(plainConfig(app, agent.id), { command: 'true' })
  assert.match(JSON.stringify(warnings), /value of args, which is not imported/)
})

test('the sealed value of another agent does not open', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const [ann, bob] = [await makeAgent(app, companyId, ADAPTER), await makeAgent(app, companyId, { name: 'Bob' })]
  const { adapter_config } = findAgent(app.ctx.db, { id: ann.id })!
  app.ctx.db.run(sql.updateTable('agent').set({ adapter_config, adapter_type: 'process' }).where('id', '=', bob.id))
  assert.deepEqual(plainConfig(app, bob.id), JSON.parse(adapter_config))
  const { gates } = await app.make('POST', `/api/agents/${bob.id}/rehearse`, {})
  assert.match(gates[0].message, /adapterConfig\.env\.PLACE of Bob cannot be decrypted/)
})

test('with a wrong key reads work and runs fail with instructions, until the key or the value is restored', async (t) => {
  const runs = await createTestRuns(t)
  const { ctx, request: send, make, companyId, clock, runUntilIdle } = runs
  const project = await make('POST', `/api/companies/${companyId}/projects`, { name: 'Map', env: { OF_MAP: VALUE } })
  const metadata = { credentials: { user: 'ann', word: VALUE } }
  const agent = await makeAgent(runs, companyId, { ...ADAPTER, metadata })
  const issue = await make('POST', `/api/companies/${companyId}/issues`, { title: 'Draw', projectId: project.id })
  const key = ctx.vault
  const go = async () => {
    await make('POST', `/api/agents/${agent.id}/heartbeat/invoke`, { issueId: issue.id })
    await runUntilIdle()
    clock.move(60 * 60_000)
    return (await runs.runs()).at(-1)
  }
  const patch = (body: object) => send('PATCH', `/api/agents/${agent.id}`, body)
  assert.equal((await go()).status, 'succeeded')

  Object.assign(ctx, { vault: elsewhere })
  const failed = await go()
  assert.equal(failed.errorCode, 'secret_unreadable')
  assert.match(
    failed.error,
    /^adapterConfig\.env\.PLACE of Ann cannot be decrypted: keys\/secret\.key .* set the value/,
  )
  const read = (await send('GET', `/api/agents/${agent.id}`)).body
  assert.deepEqual([read.adapterConfig.env, read.metadata], [{ PLACE: '[redacted]' }, { credentials: '[redacted]' }])
  assert.equal((await patch({ title: 'Mapper', metadata: { floor: 2 } })).status, 200)
  const refused = await patch({ adapterConfig: { env: { OTHER: 'x' } } })
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.body.details), /adapterConfig\.env\.PLACE.*send the value, or null/)

  const found = async () => (await send('GET', '/api/instance/check?only=secrets')).body.findings
  assert.deepEqual(
    (await found()).map(({ message }: { message: string }) => message.split(' cannot be decrypted')[0]),
    ['adapterConfig.env.PLACE, metadata.credentials of the agent Ann', 'env.OF_MAP of the project Map'],
  )
  Object.assign(ctx, { vault: key })
  assert.deepEqual(await found(), [])
  assert.equal((await go()).status, 'succeeded')
  assert.deepEqual(plainConfig(runs, agent.id), ADAPTER.adapterConfig)

  Object.assign(ctx, { vault: elsewhere })
  const again = { adapterConfig: { env: { PLACE: 'again' } }, metadata: { credentials: { user: 'bob' } } }
  assert.equal((await patch(again)).status, 200)
  assert.deepEqual(configOf(ctx, findAgent(ctx.db, { id: agent.id })!).metadata, { ...again.metadata, floor: 2 })
  assert.match((await go()).error, /^env\.OF_MAP of the project Map cannot be decrypted/)
  await make('PATCH', `/api/projects/${project.id}`, { env: { OF_MAP: 'again' } })
  assert.equal((await go()).status, 'succeeded')
})

/** Wakes an agent and resolves with the result of its run. */
async function runOf(ctx: Context, url: string, agentId: string) {
  const ended = Promise.withResolvers<void>()
  const unsubscribe = ctx.events.subscribe(({ type }) => {
    if (type === 'run.finished') ended.resolve()
  })
  await fetch(`${url}/api/agents/${agentId}/heartbeat/invoke`, { method: 'POST' })
  await ended.promise
  unsubscribe()
  return ctx.db.first(sql.selectFrom('run').select(['status', 'error_code']).orderBy('id', 'desc').limit(1))
}

test('a restored backup works with its keys, and reports missing keys', async (t) => {
  const first = await startTestServer(t)
  const { ctx, url } = first.server
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await fetch(`${url}${path}`, init)).json() as Promise<{ id: string }>
  }
  const company = await post('/api/companies', { name: 'Acme' })
  // In parts, so that no command-line argument contains a secret.
  const check = `process.exitCode = process.env.PLACE === ${JSON.stringify([...VALUE])}.join('') ? 0 : 3`
  const agent = await post(`/api/companies/${company.id}/agents`, {
    name: 'Ann',
    adapterType: 'process',
    adapterConfig: { command: process.execPath, args: ['-e', check], env: { PLACE: VALUE } },
  })
  assert.equal((await runOf(ctx, url, agent.id))?.status, 'succeeded')
  await first.server.close()

  const dataDir = path.join(temporaryFolder(t), 'data')
  cpSync(first.dataDir, dataDir, { recursive: true })
  const second = await startTestServer(t, { dataDir })
  assert.equal((await runOf(second.server.ctx, second.server.url, agent.id))?.status, 'succeeded')
  await second.server.close()

  rmSync(path.join(dataDir, 'keys', 'secret.key'))
  const third = await startTestServer(t, { dataDir })
  assert.equal((await fetch(`${third.server.url}/api/agents/${agent.id}`)).status, 200)
  assert.equal((await runOf(third.server.ctx, third.server.url, agent.id))?.error_code, 'secret_unreadable')
})

test('the stored hash of an idempotent request cannot be used to test guesses', async (t) => {
  const app = createTestApp(t)
  const at = `/api/companies/${await makeCompany(app)}/secrets`
  const body = { name: 'PIN', value: '12345678' }
  await app.request('POST', at, body, { 'idempotency-key': 'k' })
  const { request } = app.ctx.db.first(sql.selectFrom('idempotency').selectAll().where('key', '=', 'k'))!
  const requested = JSON.stringify([at, '', hash('sha256', JSON.stringify(body))])
  assert.equal(request, app.ctx.vault.fingerprint(requested))
  assert.notEqual(request, hash('sha256', requested))
  assert.notEqual(request, elsewhere.fingerprint(requested))
})
