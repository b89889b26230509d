import assert from 'node:assert/strict'
import { copyFileSync, renameSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../../../src/platform/context.ts'
import type { LongChange } from '../../../src/platform/database/long-write.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { makeCompany } from '../../make.ts'

const rename = (ctx: Context, name: string) => ctx.db.run(sql.updateTable('company').set({ name }))
const nameOf = (ctx: Context) => ctx.db.first(sql.selectFrom('company').select('name'))!.name

/** Creates a pause for a long change, which lasts until `resume` is called. */
function createPause() {
  const state = { isPaused: true }
  return {
    *pause(): LongChange<void> {
      while (state.isPaused) yield
    },
    resume() {
      state.isPaused = false
    },
  }
}

async function arrange(app: TestApp) {
  await makeCompany(app)
  await app.ctx.write(() => rename(app.ctx, 'Before'))
}

test('during a long change, reads see the previous state and other writes wait', async (t) => {
  const app = createTestApp(t)
  await arrange(app)
  const { pause, resume } = createPause()
  const order: string[] = []
  const long = app.ctx
    .writeLong(function* (ctx) {
      rename(ctx, 'During')
      yield* pause()
      assert.equal(nameOf(ctx), 'During')
    })
    .then(() => order.push('long'))
  await nextTurn()
  const short = app.ctx.write(() => nameOf(app.ctx)).finally(() => order.push('short'))
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  assert.equal(nameOf(app.ctx), 'Before')
  assert.deepEqual(order, [])
  resume()
  await long
  assert.equal(await short, 'During')
  assert.deepEqual(order.toSorted(), ['long', 'short'])
})

test('a long change that throws is rolled back, and its effects do not run', async (t) => {
  const app = createTestApp(t)
  await arrange(app)
  const effects: string[] = []
  const long = app.ctx.writeLong(function* (ctx) {
    rename(ctx, 'During')
    ctx.afterCommit(() => effects.push('during'))
    yield
    throw new Error('refused')
  })
  await assert.rejects(long, /refused/)
  assert.equal(nameOf(app.ctx), 'Before')
  await app.ctx.writeLong(function* (ctx) {
    rename(ctx, 'After')
    ctx.afterCommit(() => effects.push(nameOf(app.ctx)))
    yield
  })
  assert.deepEqual(effects, ['After'])
})

test('a shutdown rolls back a long change and commits the waiting writes', async (t) => {
  const app = createTestApp(t)
  await arrange(app)
  const { pause } = createPause()
  const long = app.ctx.writeLong(function* (ctx) {
    rename(ctx, 'During')
    yield* pause()
  })
  await nextTurn()
  const short = app.ctx.write(() => `${nameOf(app.ctx)}, then this`)
  app.ctx.flush()
  await assert.rejects(long, { code: 'shutting_down' })
  assert.equal(await short, 'Before, then this')
})

test('a series of long changes does not starve other writes', async (t) => {
  const app = createTestApp(t)
  await arrange(app)
  const long = (name: string) =>
    app.ctx.writeLong(function* (ctx) {
      yield
      const before = nameOf(ctx)
      rename(ctx, name)
      return before
    })
  const first = long('first')
  await nextTurn()
  const [, before] = await Promise.all([first, long('second'), app.ctx.write(() => rename(app.ctx, 'short'))])
  assert.equal(before, 'short')
})

test('other requests run during a change of 20,000 rows', async (t) => {
  const app = createTestApp(t)
  await arrange(app)
  let isDone = false
  const long = app.ctx
    .writeLong(function* (ctx) {
      for (let n = 0; n < 20_000; n++) {
        rename(ctx, String(n))
        yield
      }
    })
    .finally(() => {
      isDone = true
    })
  let turns = 0
  for (; !isDone; turns++) await nextTurn()
  await long
  assert.equal(nameOf(app.ctx), '19999')
  assert.ok(turns > 5, `the main thread had only ${turns} turns meanwhile`)
})

test('refuses to commit a long change if the database file was replaced', async (t) => {
  const app = createTestApp(t)
  await arrange(app)
  const { pause, resume } = createPause()
  const long = app.ctx.writeLong(function* (ctx) {
    rename(ctx, 'During')
    yield* pause()
  })
  await nextTurn()
  const file = path.join(app.config.dataDir, 'service.db')
  renameSync(file, `${file}.moved`)
  copyFileSync(`${file}.moved`, file)
  resume()
  await assert.rejects(long, { code: 'database_damaged' })
  renameSync(`${file}.moved`, file)
  assert.equal(nameOf(app.ctx), 'Before')
})
