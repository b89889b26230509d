import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { deepCheck } from '../../../src/clients/database-check/database-check.ts'
import { createTextMerger, mergeTextWhileQuiet } from '../../../src/platform/database/merge-text.ts'
import { setUp } from '../../work/issue/set-up.ts'

const countSegments = (sqlite: Database.Database) =>
  sqlite.prepare('select count(distinct segid) from issue_text_idx').pluck().get() as number

test('the merge of the text indexes leaves one segment, and searches find the same', async (t) => {
  const { ctx, create, request, company } = await setUp(t)
  for (let n = 0; n < 12; n++) await create({ title: `Tide ${n}` })
  const sqlite = new Database(ctx.config.dataDir.concat('/service.db'))
  t.after(() => sqlite.close())
  const search = async () => (await request('GET', `/api/companies/${company.id}/search?q=tide&limit=50`)).body
  const before = await search()
  assert.equal(before.issues.length, 12)
  assert.equal(countSegments(sqlite), 12)
  const step = createTextMerger(sqlite)
  while (step());
  assert.equal(countSegments(sqlite), 1)
  assert.deepEqual(await search(), before)
  await create({ title: 'Tide 12' })
  assert.equal(countSegments(sqlite), 2)
  while (step());
  assert.equal(countSegments(sqlite), 1, 'a smaller segment too')
  assert.equal((await search()).issues.length, 13)
  assert.deepEqual(deepCheck(ctx, { only: ['issue_search', 'comment_search'] }).findings, [])
})

test('the merge starts after a second without a write, and stops for a write', async (t) => {
  const { ctx, create } = await setUp(t)
  for (let n = 0; n < 5; n++) await create({ title: `Tide ${n}` })
  t.mock.timers.enable({ apis: ['setInterval'] })
  const sqlite = new Database(ctx.config.dataDir.concat('/service.db'))
  t.after(() => sqlite.close())
  const queued: (() => void)[] = []
  const close = mergeTextWhileQuiet(sqlite, (change) => {
    queued.push(change)
    return new Promise(() => {})
  })
  t.after(close)
  sqlite.exec('update company set name = name')
  t.mock.timers.tick(1_000)
  assert.equal(queued.length, 0, 'there was a write in the last second')
  t.mock.timers.tick(1_000)
  assert.equal(queued.length, 1)
  sqlite.exec('update company set name = name')
  queued[0]!()
  assert.equal(countSegments(sqlite), 5, 'a write came first')
})
