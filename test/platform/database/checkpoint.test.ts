import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { COMMITS, checkpointJob, createCheckpointer } from '../../../src/platform/database/checkpoint.ts'
import { createDb } from '../../../src/platform/database/db.ts'
import { openDatabase } from '../../../src/platform/database/open.ts'
import { temporaryFolder } from '../../helpers.ts'

/** The size of one more row than 1,000 pages hold. */
const LONG_TEXT = 'x'.repeat(4_096 * 1_001)

test('a checkpoint starts when the log has 1,000 pages, one at a time, and not for pages that are copied', async (t) => {
  const folder = temporaryFolder(t)
  const sqlite = openDatabase(path.join(folder, 'service.db'), { backupDir: folder, now: new Date() })
  t.after(() => sqlite.close())
  sqlite.exec('create table note (text text)')
  const add = sqlite.prepare('insert into note values (?)')
  const started: PromiseWithResolvers<void>[] = []
  const onCommit = createCheckpointer(sqlite, () => {
    started.push(Promise.withResolvers())
    return started.at(-1)!.promise
  })
  const start = () => {
    for (let commit = 0; commit < COMMITS; commit++) onCommit()
  }

  start()
  assert.equal(started.length, 0)
  add.run(LONG_TEXT)
  start()
  start()
  assert.equal(started.length, 1)

  started[0]!.reject(new Error('The disk failed.'))
  await nextTurn()
  start()
  assert.equal(started.length, 2, 'a checkpoint that failed is repeated')

  checkpointJob.run(createDb(sqlite), sqlite.name, () => {})
  started[1]!.resolve()
  await nextTurn()
  start()
  assert.equal(started.length, 2)
})
