import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from '../../../src/platform/database/sql.ts'
import { removeInterruptedImports, writeInstructions } from '../../../src/portability/company/instructions.ts'
import { createPeopleApp, PASSWORD } from '../../access/auth/people.ts'
import { createTestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'
import { countRows, importInto } from '../fixtures.ts'

const agents = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`agents/a${n}/AGENTS.md`, `---\nname: Agent ${n}\n---\nWork.\n`]),
  )

test('the start of a server removes the folders of killed imports, and no other folders', async (t) => {
  const app = createTestApp(t)
  const { ctx, config } = app
  const agent = await makeAgent(app, await makeCompany(app))
  const folderOf = (id: string) => path.join(config.dataDir, 'agents', id)
  mkdirSync(folderOf(agent.id), { recursive: true })
  const left = '01a201f5-b981-75ef-86bd-1617dd6a088b'
  await writeInstructions(config, new Map([[left, 'Work.']]))
  // This import was killed after the commit, so its agent exists.
  await writeInstructions(config, new Map([[agent.id, 'Lead.']]))
  writeFileSync(path.join(config.dataDir, 'imports', 'cut-off.json'), '["01a2')
  writeFileSync(path.join(config.dataDir, 'imports', 'hostile.json'), '["../.."]')
  await removeInterruptedImports(ctx)
  assert.deepEqual([existsSync(folderOf(left)), existsSync(folderOf(agent.id))], [false, true])
  assert.deepEqual(readdirSync(path.join(config.dataDir, 'imports')), [])
})

test('stopping an import leaves neither rows nor folders', async (t) => {
  const app = createTestApp(t)
  const { ctx, config } = app
  const before = countRows(app)
  // `ask` fails on a 503.
  const importing = app.request('POST', '/api/companies/import/apply', {
    source: { type: 'inline', files: { 'COMPANY.md': '---\nname: Big\n---\n', ...agents(200) } },
    target: { mode: 'new_company' },
  })
  const folder = path.join(config.dataDir, 'agents')
  while (!existsSync(folder) || readdirSync(folder).length < 200) await nextTurn()
  ctx.flush()
  assert.equal((await importing.catch((error) => error)).code, 'ERR_ASSERTION')
  assert.deepEqual(countRows(app), before)
  assert.deepEqual(readdirSync(path.join(config.dataDir, 'agents')), [])
})

test('an import repeats its planning if the company changes during the import, with the same result', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  let changes = 0
  const unsubscribe = app.ctx.events.subscribe(({ type }) => {
    if (type !== 'import.progress' || changes++ > 0) return
    void app.request('POST', `/api/companies/${companyId}/goals`, { title: 'Meanwhile' })
  })
  app.onClose(unsubscribe)
  const plan = await importInto(app, companyId, { 'COMPANY.md': '---\nname: Late\n---\n', ...agents(3) })
  assert.equal(plan.counts.byKind.agent.create, 3)
})

test('a name conflict that appears during an import refuses the import and changes nothing', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const unsubscribe = app.ctx.events.subscribe(({ data }) => {
    if ((data as { phase?: string }).phase !== 'writing') return
    void app.ctx.write(() => {})
    void app.request('POST', `/api/companies/${companyId}/agents`, { name: 'Agent 1', role: 'engineer' })
  })
  app.onClose(unsubscribe)
  const body = { source: { type: 'inline', files: agents(3) }, target: { mode: 'existing_company' } }
  const response = await app.request('POST', `/api/companies/${companyId}/imports/apply`, body)
  assert.equal(response.status, 409)
  const names = (await app.request('GET', `/api/companies/${companyId}/agents`)).body.map(
    ({ name }: { name: string }) => name,
  )
  assert.deepEqual(names, ['Agent 1'])
})

test('the response of a large import is stored for its Idempotency-Key', async (t) => {
  const app = createTestApp(t)
  const files = { 'COMPANY.md': '---\nname: Once\n---\n', ...agents(2), 'README.md': 'x'.repeat(100_000) }
  const body = { source: { type: 'inline', files }, target: { mode: 'new_company' } }
  const key = { 'idempotency-key': 'import-1' }
  const first = await app.request('POST', '/api/companies/import/apply', body, key)
  const again = await app.request('POST', '/api/companies/import/apply', body, key)
  assert.deepEqual([first.status, again.body], [201, first.body])
  assert.equal((await app.request('GET', '/api/companies')).body.length, 1)
  files['README.md'] = 'y'.repeat(100_000)
  assert.equal((await app.request('POST', '/api/companies/import/apply', body, key)).status, 422)
})

test('a person can sign in while an import uses the database', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Kit')
  let isWaiting = false
  const { untilFree } = app.ctx
  app.ctx.untilFree = () => {
    isWaiting = true
    return untilFree()
  }
  const long = app.ctx.writeLong(function* () {
    while (!isWaiting) yield
  })
  await nextTurn()
  const response = await app.request('POST', '/api/auth/sign-in', { email, password: PASSWORD })
  assert.equal(response.status, 200)
  await long
})

test('the hash chain of the activity remains valid after an import', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app)
  const agent = await makeAgent(app, companyId)
  const importing = importInto(app, companyId, { 'COMPANY.md': '---\nname: Chain\n---\n', ...agents(5) })
  while (!existsSync(path.join(app.config.dataDir, 'agents'))) await nextTurn()
  await Promise.all([importing, app.make('PATCH', `/api/agents/${agent.id}`, { title: 'Boss' })])
  await app.make('PATCH', `/api/agents/${agent.id}`, { title: 'Chief' })
  const rows = app.ctx.db.all(
    sql.selectFrom('activity').select(['hash', 'previous_hash']).where('company_id', '=', companyId).orderBy('seq'),
  )
  assert.deepEqual(
    rows.slice(1).map((row) => row.previous_hash),
    rows.slice(0, -1).map((row) => row.hash),
  )
})
