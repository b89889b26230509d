import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashPasswordJob } from '../../../src/access/auth/password-jobs.ts'
import { createReader } from '../../../src/platform/database/reader.ts'
import { openReadOnly } from '../../../src/platform/database/reader-thread.ts'
import { searchJob } from '../../../src/work/search/search.ts'
import { setUp } from '../../work/issue/set-up.ts'

async function setUpReader(t: TestContext, options?: { maxQueued: number }) {
  const app = await setUp(t)
  await app.create({ title: 'Walrus' })
  const file = `${app.config.dataDir}/service.db`
  const reader = createReader(file, options)
  app.onClose(() => reader.close())
  const want = { companyId: app.company.id, q: 'walrus', limit: 10 }
  return { ...app, file, reader, want }
}

test('a job that exceeds its time limit fails, and the next job runs', async (t) => {
  const { reader, want } = await setUpReader(t)
  // A hash takes tens of milliseconds.
  const slow = reader.run(hashPasswordJob, 'correct horse battery', { timeLimitMs: 1 })
  const next = reader.run(searchJob, want)
  await assert.rejects(slow, { code: 'rate_limited', details: { retryAfterSec: 1 } })
  assert.equal((await next).issues.length, 1)
})

test('a full queue refuses the next job', async (t) => {
  const { reader, want } = await setUpReader(t, { maxQueued: 1 })
  const accepted = [reader.run(searchJob, want), reader.run(searchJob, want)]
  await assert.rejects(reader.run(searchJob, want), { code: 'rate_limited' })
  for (const { issues } of await Promise.all(accepted)) assert.equal(issues.length, 1)
})

test('a long job does not delay the queue, and no second long job runs', async (t) => {
  const { reader, want } = await setUpReader(t)
  const long = reader.runLong(searchJob, want)
  await assert.rejects(reader.runLong(searchJob, want), { code: 'rate_limited' })
  assert.equal((await reader.run(searchJob, want)).issues.length, 1)
  assert.equal((await long).issues.length, 1)
  assert.equal((await reader.runLong(searchJob, want)).issues.length, 1)
})

test('an unreadable file is database_damaged, with the cause of the error', async (t) => {
  const { config, want, onClose } = await setUpReader(t)
  const file = path.join(config.dataDir, 'damaged.db')
  writeFileSync(file, 'no database'.repeat(1_000))
  const reader = createReader(file)
  onClose(() => reader.close())
  await assert.rejects(reader.run(searchJob, want), (error: Error & { code: string }) => {
    assert.equal(error.code, 'database_damaged')
    assert.match((error.cause as Error).stack!, /not a database\n +at /)
    return true
  })
})

test('a closed reader rejects queued and new jobs', async (t) => {
  const { reader, want } = await setUpReader(t)
  const waiting = [reader.run(searchJob, want), reader.run(searchJob, want)].map((job) =>
    assert.rejects(job, { code: 'shutting_down' }),
  )
  await reader.close()
  await Promise.all(waiting)
  await assert.rejects(reader.run(searchJob, want), { code: 'shutting_down' })
})

test('the connection of the reader cannot write', async (t) => {
  const { file } = await setUpReader(t)
  const sqlite = openReadOnly(file)
  assert.throws(() => sqlite.exec("update company set name = 'Other'"), /readonly/)
  sqlite.close()
})
