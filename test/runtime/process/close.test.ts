import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createScheduler } from '../../../src/runtime/scheduler/scheduler.ts'
import { createTestApp } from '../../helpers.ts'

test('a nudge before the scheduler closes starts no tick, because the database may already be closed', async (t) => {
  const { ctx, logged } = createTestApp(t)
  const { write } = ctx
  let writes = 0
  ctx.write = (change) => {
    writes += 1
    return write(change)
  }
  const scheduler = createScheduler(ctx, { execute: () => {}, reconcile: () => {} })
  await scheduler.start()
  const before = writes
  ctx.events.publish('x', 'wake.waiting', () => null)
  scheduler.close()
  await nextTurn()
  await nextTurn()
  assert.equal(writes, before)
  assert.deepEqual(logged, [])
})
