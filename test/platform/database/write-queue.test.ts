import assert from 'node:assert/strict'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openDatabase } from '../../../src/platform/database/open.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { createWriteQueue } from '../../../src/platform/database/write-queue.ts'
import { AppError } from '../../../src/platform/errors.ts'
import { createTestApp, temporaryFolder } from '../../helpers.ts'

function open(t: TestContext) {
  const folder = temporaryFolder(t)
  const sqlite = openDatabase(path.join(folder, 'service.db'), { backupDir: folder, now: new Date(0) })
  t.after(() => sqlite.close())
  sqlite.exec('create table note (n integer primary key)')
  const note = sqlite.prepare('insert into note values (?)')
  const notes = () => sqlite.prepare('select n from note').pluck().all()
  return { sqlite, notes, add: (n: number) => note.run(n), ...createWriteQueue(sqlite) }
}

test('the writes of one turn run in order and resolve with their results', async (t) => {
  const { write } = open(t)
  const ran: number[] = []
  const results = await Promise.all(
    [1, 2, 3].map((n) =>
      write(() => {
        ran.push(n)
        return n * 10
      }),
    ),
  )
  assert.deepEqual(ran, [1, 2, 3])
  assert.deepEqual(results, [10, 20, 30])
})

test('writes of consecutive turns share a commit, and a write commits after a turn without another one', async (t) => {
  const folder = temporaryFolder(t)
  const sqlite = openDatabase(path.join(folder, 'service.db'), { backupDir: folder, now: new Date(0) })
  t.after(() => sqlite.close())
  const batches: number[] = []
  const { write } = createWriteQueue(sqlite, { onBatch: (writes) => batches.push(writes) })
  const first = write(() => {})
  await nextTurn()
  const second = write(() => {})
  await Promise.all([first, second])
  assert.deepEqual(batches, [2])
  await write(() => {})
  assert.deepEqual(batches, [2, 1])
})

test('another connection sees no write of a turn before the commit, and all of them after it', async (t) => {
  const folder = temporaryFolder(t)
  const file = path.join(folder, 'service.db')
  const options = { backupDir: folder, now: new Date(0) }
  const [sqlite, reader] = [openDatabase(file, options), openDatabase(file, options)]
  t.after(() => [sqlite, reader].map((each) => each.close()))
  sqlite.exec('create table note (n integer primary key)')
  const { write } = createWriteQueue(sqlite)
  const seen = () => reader.prepare('select count(*) from note').pluck().get()
  const seenInside: unknown[] = []
  const add = (n: number) =>
    write(() => {
      sqlite.prepare('insert into note values (?)').run(n)
      seenInside.push(seen())
    })
  await Promise.all([add(1), add(2)])
  assert.deepEqual(seenInside, [0, 0])
  assert.equal(seen(), 2)
})

test('a write that throws is rolled back alone; the other writes of the turn commit', async (t) => {
  const { write, add, notes } = open(t)
  const results = await Promise.allSettled([
    write(() => add(1)),
    write(() => {
      add(2)
      throw new Error('refused')
    }),
    write(() => {
      add(3)
      add(3)
    }),
    write(() => add(4)),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(notes(), [1, 4])
})

test('only a write that throws after a change causes its batch to run again', async (t) => {
  const { write, add, notes } = open(t)
  const runs: string[] = []
  const effects: string[] = []
  const writeAs = (name: string, change: () => void) =>
    write((afterCommit) => {
      runs.push(name)
      afterCommit(() => effects.push(name))
      change()
    })
  const refuse = () => {
    throw new Error('refused')
  }
  await Promise.allSettled([writeAs('a', () => add(1)), writeAs('b', refuse), writeAs('c', () => add(2))])
  assert.deepEqual(runs.splice(0), ['a', 'b', 'c'], 'a refusal without a change costs no second run')
  const changeAndRefuse = () => {
    add(4)
    refuse()
  }
  await Promise.allSettled([writeAs('d', () => add(3)), writeAs('e', changeAndRefuse), writeAs('f', () => add(5))])
  assert.deepEqual(runs, ['d', 'e', 'd', 'e', 'f'])
  assert.deepEqual(effects, ['a', 'c', 'd', 'f'])
  assert.deepEqual(notes(), [1, 2, 3, 5])
})

test('effects run after the commit, in order, and never for a rolled-back write', async (t) => {
  const { write, add, sqlite } = open(t)
  const effects: string[] = []
  const effect = (name: string) => () => effects.push(`${name} ${sqlite.inTransaction ? 'inside' : 'after'}`)
  await Promise.allSettled([
    write((afterCommit) => {
      afterCommit(effect('one'))
      add(1)
      afterCommit(effect('two'))
    }),
    write((afterCommit) => {
      afterCommit(effect('undone'))
      throw new Error('refused')
    }),
    write((afterCommit) => afterCommit(effect('three'))),
  ])
  assert.deepEqual(effects, ['one after', 'two after', 'three after'])
})

test('an effect that fails is logged and affects no other effect', async (t) => {
  const { ctx, logged } = createTestApp(t)
  const effects: string[] = []
  const result = await ctx.write(() => {
    ctx.afterCommit(() => {
      throw new Error('an effect of no use')
    })
    ctx.afterCommit(() => effects.push('second'))
    return 'written'
  })
  assert.equal(result, 'written')
  assert.deepEqual(effects, ['second'])
  assert.match(logged.join(''), /an effect of no use/)
})

test('refuses an asynchronous change and rolls it back', async (t) => {
  const { write, add, notes } = open(t)
  await assert.rejects(
    write(async () => add(1)),
    /synchronous/,
  )
  assert.deepEqual(notes(), [])
})

test('refuses a nested write, and rolls back the outer write', async (t) => {
  const { write, add, notes } = open(t)
  const nested = write(() => {
    add(1)
    write(() => add(2))
  })
  await assert.rejects(nested, /joins the transaction/)
  await write(() => add(3))
  assert.deepEqual(notes(), [3])
})

test('an effect may queue a write', async (t) => {
  const { write, add, notes } = open(t)
  await new Promise((resolve) => write((afterCommit) => afterCommit(() => write(() => add(1)).then(resolve))))
  assert.deepEqual(notes(), [1])
})

test('a failed commit rejects every write of its turn and runs no effect; the next turn commits', async (t) => {
  const { write, sqlite, notes, add } = open(t)
  // SQLite checks a deferred foreign key at the commit.
  sqlite.exec('create table child (n integer references note (n) deferrable initially deferred)')
  let effects = 0
  const results = await Promise.allSettled([
    write((afterCommit) => {
      afterCommit(() => effects++)
      add(1)
    }),
    write(() => sqlite.exec('insert into child values (99)')),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(effects, 0)
  assert.deepEqual(notes(), [])
  await write(() => add(2))
  assert.deepEqual(notes(), [2])
})

test('flush commits the queued writes immediately', async (t) => {
  const { write, flush, add, notes } = open(t)
  const written = write(() => add(1))
  flush()
  assert.deepEqual(notes(), [1])
  await written
})

test('the time is constant during a write', async (t) => {
  const { ctx, clock } = createTestApp(t)
  const [first, second] = await ctx.write(() => {
    const before = ctx.now
    clock.move(5)
    return [before, ctx.now]
  })
  assert.equal(first, second)
  assert.notEqual(ctx.now, first)
  assert.throws(() => ctx.afterCommit(() => {}), /inside a write/)
})

test('a direct call of execute() throws', async () => {
  await assert.rejects(sql.selectFrom('company').selectAll().execute(), /db\.all/)
  await assert.rejects(
    sql.transaction().execute(async () => {}),
    /db\.all/,
  )
})

test('on a full disk writes are 507 and reads work; writes work again when space is free', async (t) => {
  const { ctx, request } = createTestApp(t)
  const pragma = (name: string) => ctx.db.first<Record<string, number>>(rawPragma(name))
  const pages = pragma('page_count')!.page_count!
  pragma(`max_page_count = ${pages}`)
  const description = 'x'.repeat(100_000)
  const results = await Promise.all([1, 2].map(() => request('POST', '/api/companies', { name: 'Acme', description })))
  for (const { status, body } of results) {
    assert.equal(status, 507)
    assert.equal(body.code, 'disk_full')
  }
  assert.deepEqual((await request('GET', '/api/companies')).body, [])
  pragma('max_page_count = 1000000')
  assert.equal((await request('POST', '/api/companies', { name: 'Acme', description })).status, 201)
})

const rawPragma = (name: string) => ({ compile: () => ({ sql: `pragma ${name}`, parameters: [] }) }) as never

test('after a disk error, the check writes to the disk until a write succeeds', async (t) => {
  const { sqlite, write, check, add } = open(t)
  await check()
  const fault = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' })
  await assert.rejects(
    write(() => {
      throw fault
    }),
    { code: 'database_damaged' },
  )
  sqlite.pragma('query_only = on')
  await assert.rejects(check(), { code: 'database_damaged' })
  await assert.rejects(check(), { code: 'database_damaged' })
  sqlite.pragma('query_only = off')
  await check()
  await write(() => add(1))
})

test('an application error does not count as a disk error', async (t) => {
  const { sqlite, write, check } = open(t)
  await assert.rejects(
    write(() => {
      throw new AppError('conflict', 'Refused.')
    }),
    { code: 'conflict' },
  )
  sqlite.pragma('query_only = on')
  await check()
  sqlite.pragma('query_only = off')
})
