import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { v7 as uuid } from 'uuid'
import { removeLeftovers } from '../../../src/organization/company/leftovers.ts'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { insertIssue, insertRunRow } from '../../arrange.ts'
import { createTestApp, type TestApp, temporaryFolder } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'
import { createTestRuns } from '../../runs.ts'
import { startTestServer } from '../../server.ts'

/** Counts the rows of every table of the schema, by table. */
function countRows(app: TestApp): Record<string, number> {
  const tables = app.ctx.db.all(
    sql
      .selectFrom(raw<{ name: string; type: string; sql: string }>`sqlite_master`.as('m'))
      .select('m.name')
      .where('m.type', '=', 'table')
      .where('m.sql', 'like', '%) strict%'),
  )
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      app.ctx.db.first(
        sql.selectFrom(raw<{ n: number }>`(select count(*) as n from ${raw.table(name)})`.as('t')).select('t.n'),
      )!.n,
    ]),
  )
}

const formOf = (content: string) => {
  const form = new FormData()
  form.append('file', new File([content], 'x.gif'))
  return form
}

/** Creates a company with data of every kind. */
async function fillCompany(app: TestApp) {
  const { company, ceo, engineer, other, stranger } = await arrangeCompany(app)
  const at = `/api/companies/${company.id}`
  const top = await app.make('POST', `${at}/goals`, { title: 'top' })
  const goal = await app.make('POST', `${at}/goals`, { title: 'below', parentId: top.id, ownerAgentId: ceo.id })
  const project = await app.make('POST', `${at}/projects`, {
    name: 'x',
    goalIds: [goal.id],
    leadAgentId: ceo.id,
    workspace: { cwd: '/srv' },
  })
  const issue = insertIssue(app.ctx, { company_id: company.id, goal_id: goal.id, project_id: project.id })
  const run = insertRunRow(app.ctx, engineer)
  app.ctx.db.run(sql.updateTable('run').set({ issue_id: issue.id }).where('id', '=', run))
  const asRun = app.as(await app.ctx.tokens.sign({ id: run, agentId: engineer.id, companyId: company.id }))
  const approval = (
    await ceo.request('POST', `${at}/approvals`, {
      type: 'approve_ceo_strategy',
      payload: { plan: 'x' },
      issueIds: [issue.id],
    })
  ).body
  await asRun('POST', `/api/approvals/${approval.id}/comments`, { body: 'x' })
  await app.make('POST', `/api/approvals/${approval.id}/approve`)
  await app.make('POST', `${at}/logo`, formOf('GIF89a..'))
  await asRun('POST', `/api/issues/${issue.id}/attachments`, formOf('GIF89a..'))
  await app.make('PATCH', at, { spentMonthlyCents: 100 })
  await ceo.request('POST', `${at}/goals`, { title: 'once' }, { 'idempotency-key': 'k' })
  const comment = { id: uuid(), company_id: company.id, issue_seq: issue.seq, body: 'x', created_at: app.ctx.now }
  const row = { ...comment, author_type: 'agent' as const, author_agent_id: engineer.id, created_by_run_id: run }
  await app.ctx.write(() => app.ctx.db.run(sql.insertInto('comment').values({ ...row, updated_at: app.ctx.now })))
  app.ctx.db.run(
    sql.insertInto('cost_event').values({
      id: uuid(),
      company_id: company.id,
      agent_id: engineer.id,
      issue_id: issue.id,
      project_id: project.id,
      goal_id: goal.id,
      run_id: run,
      provider: 'p',
      model: 'm',
      cost_micros: 5,
      cost_status: 'reported',
      occurred_at: app.ctx.now,
      created_at: app.ctx.now,
    }),
  )
  const end = () =>
    app.ctx.db.run(sql.updateTable('run').set({ status: 'succeeded', finished_at: app.ctx.now }).where('id', '=', run))
  return { company, ceo, other, stranger, run, end }
}

const FILLED = [
  'company agent agent_key goal project project_goal workspace issue comment approval approval_issue approval_comment',
  'wake run cost_event cost_total activity idempotency asset attachment skill skill_file',
]
  .join(' ')
  .split(' ')

test('deleting a company deletes all its rows and files', async (t) => {
  const app = createTestApp(t)
  const { company, other, end } = await fillCompany(app)
  end()
  const before = countRows(app)
  for (const table of FILLED) assert.ok(before[table]! > 0, `${table} has rows that could be left`)
  const { status, body } = await app.request('DELETE', `/api/companies/${company.id}`, { confirm: 'Acme' })
  assert.equal(status, 200)
  assert.deepEqual(body, { ok: true, id: company.id })
  const left = Object.entries(countRows(app)).filter(([, rows]) => rows > 0)
  // The other company, its agent with a key, its bundled skill, and the activity of its creation.
  const own = { company: 1, agent: 1, agent_key: 1, skill: 1, skill_file: 1, activity: 1 }
  assert.deepEqual(Object.fromEntries(left), own)
  assert.deepEqual(
    (await app.request('GET', '/api/companies')).body.map((one: { id: string }) => one.id),
    [other.id],
  )
  assert.deepEqual(readdirSync(path.join(app.config.dataDir, 'assets')), [])
  const found = app.ctx.db.all(sql.selectFrom(raw<{ rowid: number }>`issue_text('Issue')`.as('f')).select('f.rowid'))
  assert.deepEqual(found, [])
  assert.equal((await app.request('GET', `/api/companies/${company.id}`)).status, 404)
})

/** Creates a file in a folder named by an id, like those of runs and agents. @returns the folder */
function fillFolder(app: TestApp, kind: string, id: string): string {
  const folder = path.join(app.config.dataDir, kind, id)
  mkdirSync(path.join(folder, 'deep'), { recursive: true })
  writeFileSync(path.join(folder, 'deep', 'file'), 'x')
  return folder
}

test('deleting a company deletes its folders, and those of its runs and agents, and no others', async (t) => {
  const app = createTestApp(t)
  const { company, ceo, stranger, other, run, end } = await fillCompany(app)
  end()
  const stored = [
    fillFolder(app, 'agents', stranger.id),
    fillFolder(app, 'runs', insertRunRow(app.ctx, stranger)),
    fillFolder(app, 'skills', other.id),
  ]
  const gone = [fillFolder(app, 'agents', ceo.id), fillFolder(app, 'runs', run), fillFolder(app, 'skills', company.id)]
  await app.make('DELETE', `/api/companies/${company.id}?confirm=Acme`)
  assert.deepEqual(gone.filter(existsSync), [])
  assert.deepEqual(stored.filter(existsSync), stored)
})

test('deletes a symbolic link in place of a folder, and keeps its target', async (t) => {
  const app = createTestApp(t)
  const { company, ceo, engineer } = await arrangeCompany(app)
  const outside = temporaryFolder(t)
  writeFileSync(path.join(outside, 'file'), 'x')
  const link = path.join(app.config.dataDir, 'agents', ceo.id)
  mkdirSync(path.dirname(link))
  symlinkSync(outside, link)
  const linkInside = path.join(fillFolder(app, 'agents', engineer.id), 'link')
  symlinkSync(outside, linkInside)
  await app.make('DELETE', `/api/companies/${company.id}?confirm=Acme`)
  assert.deepEqual(readdirSync(path.dirname(link)), [])
  assert.equal(readFileSync(path.join(outside, 'file'), 'utf8'), 'x')
})

test('logs a folder that cannot be deleted, and deletes it at the next start', async (t) => {
  const app = createTestApp(t)
  const { company, ceo, engineer } = await arrangeCompany(app)
  const folders = [fillFolder(app, 'agents', ceo.id), fillFolder(app, 'agents', engineer.id)]
  // Root may delete anything, so a file replaces the parent folder.
  const [agents, aside] = [path.join(app.config.dataDir, 'agents'), path.join(app.config.dataDir, 'aside')]
  renameSync(agents, aside)
  writeFileSync(agents, '')
  await app.make('DELETE', `/api/companies/${company.id}?confirm=Acme`)
  assert.equal(app.logged.filter((line) => line.includes('folder of a deleted record could not be removed')).length, 2)
  rmSync(agents)
  renameSync(aside, agents)
  assert.deepEqual(folders.filter(existsSync), folders)
  await removeLeftovers(app.ctx)
  assert.deepEqual(readdirSync(agents), [])
  assert.equal(countRows(app).leftover, 0)
})

test('deletes a company even if the deletion of its files cannot be recorded', async (t) => {
  const app = createTestApp(t)
  const { company, ceo } = await arrangeCompany(app)
  const folder = fillFolder(app, 'agents', ceo.id)
  const refuse = raw`create temp trigger refuse before delete on leftover begin select raise(abort, 'no'); end`
  app.ctx.db.run(refuse.compile(sql))
  await app.make('DELETE', `/api/companies/${company.id}?confirm=Acme`)
  assert.equal(existsSync(folder), false)
  assert.ok(countRows(app).leftover! > 0)
})

test('the server deletes leftover folders at its start', async (t) => {
  const dataDir = temporaryFolder(t)
  const id = uuid()
  const { server } = await startTestServer(t, { dataDir })
  await server.ctx.write(() => server.ctx.db.run(sql.insertInto('leftover').values({ folder: 'runs', id })))
  await server.close()
  const folder = path.join(dataDir, 'runs', id)
  mkdirSync(folder, { recursive: true })
  await startTestServer(t, { dataDir })
  assert.equal(existsSync(folder), false)
})

test('a leftover must have a valid id', (t) => {
  const { ctx } = createTestApp(t)
  for (const id of ['', '.', '..', `../${'a'.repeat(33)}`, `${'a'.repeat(17)}/${'a'.repeat(18)}`]) {
    assert.throws(() => ctx.db.run(sql.insertInto('leftover').values({ folder: 'runs', id })), /CHECK/, id)
  }
})

test('every foreign key to a large table has an index, so a deletion needs no full table scan per row', (t) => {
  const app = createTestApp(t)
  const few = ['company', 'agent']
  const references = raw<{ name: string; child: string; parent: string }>`(
    select m.name, f."from" as child, f."table" as parent
    from sqlite_master as m, pragma_foreign_key_list(m.name) as f
    where m.type = 'table' and not exists (
      select 1 from pragma_index_list(m.name) as l, pragma_index_info(l.name) as i
      where i.seqno = 0 and i.name = f."from"))`
  const bare = app.ctx.db.all(sql.selectFrom(references.as('r')).selectAll('r'))
  assert.ok(bare.length > 0, 'the query finds those to agents')
  assert.deepEqual(
    bare.filter(({ parent }) => !few.includes(parent)),
    [],
  )
})

test('deleting a company requires its name, in the body or the query', async (t) => {
  const app = createTestApp(t)
  const company = await app.make('POST', '/api/companies', { name: 'Ac & me' })
  const path = `/api/companies/${company.id}`
  for (const [query, body] of [
    ['', undefined],
    ['', {}],
    ['', { confirm: 'ac & me' }],
    ['?confirm=yes', undefined],
    [`?confirm=${encodeURIComponent('Ac & me')}`, { confirm: 'x' }],
  ] as const) {
    assert.equal((await app.request('DELETE', path + query, body)).status, 422)
  }
  assert.equal((await app.request('DELETE', `${path}?confirm=${encodeURIComponent('Ac & me')}`)).status, 200)
  assert.equal((await app.request('DELETE', `${path}?confirm=x`)).status, 404)
})

test('refuses to delete a company with a live run', async (t) => {
  const app = createTestApp(t)
  const { company, run, end } = await fillCompany(app)
  const path = `/api/companies/${company.id}?confirm=Acme`
  const before = countRows(app)
  const { status, body } = await app.request('DELETE', path)
  assert.equal(status, 409)
  assert.deepEqual(body.details.runIds, [run])
  assert.deepEqual(countRows(app), before)
  end()
  assert.equal((await app.request('DELETE', path)).status, 200)
})

test('a stopping run keeps its folder until it ends', async (t) => {
  const app = await createTestRuns(t)
  const agent = await app.agentThat('ignore-sigterm.js')
  const remove = () => app.request('DELETE', `/api/companies/${app.companyId}?confirm=Acme`)
  const running = app.next('run.running')
  await app.make('POST', `/api/agents/${agent}/wakeup`)
  await app.tick()
  await running
  const [run] = await app.runs()
  const folder = path.join(app.config.dataDir, 'runs', run.id)
  const finished = app.next('run.finished')
  await app.make('POST', `/api/runs/${run.id}/cancel`)
  assert.equal((await remove()).status, 409)
  assert.equal(existsSync(folder), true)
  await finished
  assert.equal((await remove()).status, 200)
  assert.equal(existsSync(folder), false)
})

test('the counts include only the companies of the caller', async (t) => {
  const app = createTestApp(t)
  const { company, ceo, engineer, other, stranger } = await arrangeCompany(app)
  const at = `/api/companies/${company.id}`
  await app.make('POST', `${at}/goals`, { title: 'x' })
  await app.make('POST', `${at}/projects`, { name: 'x' })
  await ceo.request('POST', `${at}/approvals`, { type: 'approve_ceo_strategy', payload: { plan: 'x' } })
  insertIssue(app.ctx, { company_id: company.id })
  const done = insertIssue(app.ctx, { company_id: company.id })
  app.ctx.db.run(sql.updateTable('issue').set({ status: 'done', completed_at: app.ctx.now }).where('id', '=', done.id))
  app.ctx.db.run(sql.updateTable('agent').set({ status: 'terminated' }).where('id', '=', engineer.id))
  const ours = {
    agentCount: 1,
    issueCount: 2,
    openIssueCount: 1,
    projectCount: 1,
    goalCount: 1,
    pendingApprovalCount: 1,
  }
  const theirs = { ...ours, issueCount: 0, openIssueCount: 0, projectCount: 0, goalCount: 0, pendingApprovalCount: 0 }
  assert.deepEqual((await app.request('GET', '/api/companies/stats')).body, { [company.id]: ours, [other.id]: theirs })
  assert.deepEqual((await ceo.request('GET', '/api/companies/stats')).body, { [company.id]: ours })
  assert.deepEqual((await stranger.request('GET', '/api/companies/stats')).body, { [other.id]: theirs })
})
