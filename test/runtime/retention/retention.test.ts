import assert from 'node:assert/strict'
import { existsSync, mkdirSync, watch, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { v7 as uuid } from 'uuid'
import { checkDatabase } from '../../../src/clients/database-check/database-check.ts'
import { assetFile } from '../../../src/organization/asset/store.ts'
import { noteDeletedFiles, removeLeftovers } from '../../../src/organization/company/leftovers.ts'
import { markLogsDeleted, RUN_REFERENCES } from '../../../src/organization/run/retention-queries.ts'
import type { Retention } from '../../../src/platform/config.ts'
import type { Context } from '../../../src/platform/context.ts'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { runFolder } from '../../../src/runtime/process/run-files.ts'
import { createRetention } from '../../../src/runtime/retention/retention.ts'
import { insertAgent, insertAgentRow, insertCompany, insertIssue, insertRunRow } from '../../arrange.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'
import { createTestRuns } from '../../runs.ts'
import { startTestServer } from '../../server.ts'

const DAY_MS = 86_400_000
const NEVER = { runLogDays: 0, runLogBytes: 0, runDays: 0, wakeDays: 0, uploadDays: 0, worktreeDays: 0 }
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

const keep = (settings: Partial<Retention>) => ({ retention: { ...NEVER, ...settings } })

async function arrange(t: TestContext, settings: Partial<Retention>) {
  const app = createTestApp(t, keep(settings))
  const { company } = await arrangeCompany(app)
  const agent = insertAgent(app, { company_id: company.id })
  const retention = createRetention(app.ctx)
  app.onClose(retention.close)
  return { ...app, companyId: company.id as string, agent, pass: retention.pass }
}

/** Inserts an ended run with a log of the given size in bytes. */
function endedRun(app: Awaited<ReturnType<typeof arrange>>, bytes = 0, values: object = {}): string {
  const id = insertRunRow(app.ctx, app.agent, { status: 'succeeded', finished_at: app.ctx.now, ...values })
  if (bytes > 0) writeLog(app, id, bytes)
  return id
}

function writeLog({ config }: Pick<Context, 'config'>, runId: string, bytes: number): void {
  const folder = path.join(runFolder(config, runId), 'log')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'head'), 'x'.repeat(bytes))
}

const hasFolder = (app: TestApp, runId: string) => existsSync(runFolder(app.config, runId))
const isThere = (app: TestApp, table: 'run' | 'wake' | 'asset', id: string) =>
  app.ctx.db.first(sql.selectFrom(table).select('id').where('id', '=', id)) !== undefined

test('an expired run log is deleted; the run stays, and its log is a message about the deletion', async (t) => {
  const runs = await createTestRuns(t, keep({ runLogDays: 30 }))
  const agent = await runs.agentThat('succeed.js')
  await runs.make('POST', `/api/agents/${agent}/wakeup`, {})
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  const log = async (query = '') => (await runs.request('GET', `/api/runs/${run.id}/log${query}`)).body
  const before = await log()
  const retention = createRetention(runs.ctx)
  runs.clock.move(29 * DAY_MS)
  assert.equal((await retention.pass()).runLogs, 0)
  assert.deepEqual(await log(), before)
  runs.clock.move(2 * DAY_MS)
  assert.equal((await retention.pass()).runLogs, 1)
  assert.equal(hasFolder(runs, run.id), false)
  const after = await log()
  assert.match(after.text, /^\[The log of this run was deleted on 2026-12-22, because .*\]\n$/)
  assert.equal(after.isComplete, true)
  assert.equal((await log(`?offset=${after.nextOffset}`)).text, '')
  const stream = (await runs.request('GET', `/api/runs/${run.id}/log/stream`)).body
  assert.equal(stream.match(/was deleted on/g).length, 1)
  assert.match(stream, /event: end/)
  const stored = (await runs.request('GET', `/api/runs/${run.id}`)).body
  assert.deepEqual(stored, { ...run, logDeletedAt: stored.logDeletedAt })
  assert.equal(stored.logDeletedAt, runs.ctx.now)
  assert.equal((await retention.pass()).runLogs, 0)
})

test('above the maximum size the logs of the oldest ended runs are deleted, and never the log of a live run', async (t) => {
  const app = await arrange(t, { runLogBytes: 10_000 })
  const live = insertRunRow(app.ctx, app.agent)
  writeLog(app, live, 50_000)
  app.clock.move(1_000)
  const ended = [3_000, 3_000, 3_000, 3_000, 3_000].map((bytes) => {
    app.clock.move(1_000)
    return endedRun(app, bytes)
  })
  assert.equal((await app.pass()).runLogs, 2)
  assert.deepEqual(
    ended.map((id) => hasFolder(app, id)),
    [false, false, true, true, true],
  )
  assert.ok(hasFolder(app, live))
})

test('a server that dies after the database write removes the files at its next start', async (t) => {
  const app = await arrange(t, {})
  const id = endedRun(app, 100, { log_bytes: 100 })
  await app.ctx.write(() => {
    const marked = markLogsDeleted(app.ctx.db, { ids: [id], at: app.ctx.now })
    noteDeletedFiles(app.ctx.db, 'runs', marked)
  })
  assert.ok(hasFolder(app, id))
  await removeLeftovers(app.ctx)
  assert.equal(hasFolder(app, id), false)
})

test('a company with a run log that waits for removal can be deleted', async (t) => {
  const app = await arrange(t, {})
  const id = endedRun(app, 100, { log_bytes: 100 })
  await app.ctx.write(() => noteDeletedFiles(app.ctx.db, 'runs', [id]))
  await app.make('DELETE', `/api/companies/${app.companyId}?confirm=Acme`)
  assert.equal(hasFolder(app, id), false)
})

test('an ended run is deleted only if it has no references, and its daily totals are updated', async (t) => {
  const app = await arrange(t, { runDays: 10 })
  const idle = endedRun(app, 100)
  app.ctx.db.run(sql.updateTable('run').set({ idle: 1 }).where('id', '=', idle))
  const retry = endedRun(app, 0, { status: 'failed', retry_of_run_id: idle })
  const costly = endedRun(app, 100)
  const at = app.ctx.now
  app.ctx.db.run(
    sql.insertInto('cost_event').values({
      id: uuid(),
      company_id: app.companyId,
      agent_id: app.agent.id,
      run_id: costly,
      provider: 'p',
      model: 'm',
      cost_status: 'reported',
      occurred_at: at,
      created_at: at,
    }),
  )
  const busy = insertRunRow(app.ctx, app.agent, { slot: 1 })
  const request = app.as(await app.ctx.tokens.sign({ id: busy, agentId: app.agent.id, companyId: app.companyId }))
  const issue = insertIssue(app.ctx, { company_id: app.companyId, assignee_agent_id: app.agent.id })
  assert.equal((await request('POST', `/api/issues/${issue.id}/comments`, { body: 'Done.' })).status, 201)
  const end = sql.updateTable('run').set({ status: 'succeeded', finished_at: at }).where('id', '=', busy)
  app.ctx.db.run(end)
  const live = insertRunRow(app.ctx, app.agent, { slot: 2 })
  app.clock.move(11 * DAY_MS)
  const recent = endedRun(app)

  const passes = [await app.pass(), await app.pass()].map(({ runs }) => runs)
  assert.deepEqual(passes, [1, 1], 'a retry first, then what it retried')
  assert.deepEqual(
    [idle, retry, costly, busy, live, recent].map((id) => isThere(app, 'run', id)),
    [false, false, true, true, true, true],
  )
  assert.deepEqual([hasFolder(app, idle), hasFolder(app, costly)], [false, true])
  assert.equal((await app.request('GET', `/api/runs/${idle}`)).status, 404)
  const { findings } = await checkDatabase(app.ctx, { only: ['run_totals', 'foreign_keys', 'activity_chain'] })
  assert.deepEqual(findings, [])
})

test('the references that keep a run match all references in the schema', (t) => {
  const { ctx } = createTestApp(t)
  const references = ctx.db.all(
    raw<{ name: string; column: string }>`select tables.name, keys."from" as "column" from sqlite_master as tables,
      pragma_foreign_key_list(tables.name) as keys where tables.type = 'table' and keys."table" = 'run' order by 1, 2`.compile(
      sql,
    ),
  )
  assert.deepEqual(
    references.map(({ name, column }) => [name, column]),
    RUN_REFERENCES.map((reference) => [...reference]),
  )
})

test('expired served wakes are deleted without their runs, and waiting wakes stay', async (t) => {
  const app = await arrange(t, { wakeDays: 5 })
  const run = endedRun(app)
  const wakeOf = sql.selectFrom('run').select('wake_id').where('id', '=', run)
  const claimed = app.ctx.db.first(wakeOf)!.wake_id!
  const wake = (status: 'waiting' | 'dropped') => {
    const { now } = app.ctx
    const row = { id: uuid(), company_id: app.companyId, agent_id: app.agent.id, status, reasons: '[]' }
    app.ctx.db.run(sql.insertInto('wake').values({ ...row, created_at: now, updated_at: now }))
    return row.id
  }
  const [dropped, waiting] = [wake('dropped'), wake('waiting')]
  app.clock.move(4 * DAY_MS)
  assert.equal((await app.pass()).wakes, 0)
  app.clock.move(2 * DAY_MS)
  assert.equal((await app.pass()).wakes, 2)
  assert.deepEqual(
    [claimed, dropped, waiting].map((id) => isThere(app, 'wake', id)),
    [false, false, true],
  )
  assert.equal((await app.request('GET', `/api/runs/${run}`)).status, 200)
})

test('an upload is deleted if it is not attached, not a logo and not linked in a text', async (t) => {
  const app = await arrange(t, { uploadDays: 5 })
  const upload = async (place: string): Promise<string> => {
    const form = new FormData()
    form.append('file', new File([PNG], 'tide.png'))
    const { body } = await app.request('POST', place, form)
    return body.assetId ?? body.id
  }
  const logos = `/api/companies/${app.companyId}/logo`
  const issue = insertIssue(app.ctx, { company_id: app.companyId })
  const [unused, logo, linked] = [await upload(logos), await upload(logos), await upload(logos)]
  const attachments = `/api/issues/${issue.id}/attachments`
  assert.ok(await upload(attachments))
  await app.make('PATCH', `/api/companies/${app.companyId}`, { logoAssetId: logo })
  await app.make('POST', `/api/issues/${issue.id}/comments`, { body: `See ![](/api/assets/${linked}).` })
  app.clock.move(6 * DAY_MS)
  const recent = await upload(logos)
  assert.equal((await app.pass()).uploads, 1)
  assert.deepEqual(
    [unused, logo, linked, recent].map((id) => [isThere(app, 'asset', id), existsSync(assetFile(app.config, id))]),
    [false, true, true, true].map((expected) => [expected, expected]),
  )
  const count = sql.selectFrom('asset').select('id')
  assert.equal(app.ctx.db.all(count).length, 4, 'the attachment stays')
  const activity = (await app.request('GET', `/api/companies/${app.companyId}/activity?action=asset.deleted`)).body
  assert.deepEqual(
    activity.map((entry: { entityId: string }) => entry.entityId),
    [unused],
  )
})

test('with all settings at 0 nothing is deleted', async (t) => {
  const app = await arrange(t, {})
  const run = endedRun(app, 100)
  app.clock.move(10_000 * DAY_MS)
  assert.deepEqual(await app.pass(), { runLogs: 0, runs: 0, wakes: 0, uploads: 0, worktrees: 0 })
  assert.ok(hasFolder(app, run))
})

test('a running server makes its first pass after five minutes, and then one every hour', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { server, logged } = await startTestServer(t, keep({ runLogDays: 1 }))
  const { ctx } = server
  const agent = insertAgentRow(ctx, { company_id: insertCompany(ctx) })
  const id = insertRunRow(ctx, agent, { status: 'succeeded', finished_at: '2026-01-01T00:00:00.000Z' })
  writeLog(ctx, id, 100)
  const next = insertRunRow(ctx, agent, { status: 'succeeded', finished_at: '2026-01-02T00:00:00.000Z' })
  const isRemoved = (runId: string) =>
    new Promise<void>((resolve) => {
      watch(path.dirname(runFolder(ctx.config, runId)), (_, name) => name === runId && resolve()).unref()
    })
  const first = isRemoved(id)
  t.mock.timers.tick(300_000)
  await first
  while (!logged.some((line) => line.includes('Old data was deleted'))) await nextTurn()
  ctx.db.run(sql.updateTable('run').set({ log_bytes: null }).where('id', '=', next))
  writeLog(ctx, next, 100)
  const second = isRemoved(next)
  t.mock.timers.tick(3_600_000)
  await second
  t.mock.timers.reset()
})
