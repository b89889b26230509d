import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { nextWorkDue } from '../../../src/runtime/scheduler/stage-timers.ts'
import { stageRoutines } from '../../../src/work/routine/stage.ts'
import { setUp } from './set-up.ts'

const HOUR = 3_600_000

test('a due routine creates its issue as the system and starts a run of the assignee', async (t) => {
  const app = await setUp(t)
  const agentId = await app.agentThat('succeed.js')
  const label = await app.make('POST', `/api/companies/${app.companyId}/labels`, { name: 'chore' })
  const routine = await app.create({
    ...{ assigneeAgentId: agentId, intervalSec: 3600, priority: 'high', description: 'All of it.' },
    labelIds: [label.id],
  })
  assert.equal(routine.nextDueAt, '2026-11-21T10:00:00.000Z')
  assert.equal(nextWorkDue(app.ctx), routine.nextDueAt)
  await app.tick()
  assert.deepEqual(await app.issues(), [])

  app.clock.move(HOUR)
  await app.runUntilIdle()
  const [issue] = await app.issues()
  assert.deepEqual(
    [issue.title, issue.description, issue.priority, issue.status, issue.assigneeAgentId, issue.labelIds],
    ['Sweep the floor', 'All of it.', 'high', 'todo', agentId, [label.id]],
  )
  assert.deepEqual([issue.createdByAgentId, issue.createdByUserId], [null, null])
  const [run] = await app.runs()
  assert.deepEqual([run.agentId, run.issueId, run.invocationSource], [agentId, issue.id, 'issue_assigned'])
  const moment = '2026-11-21T10:00:00.000Z'
  assert.deepEqual(await app.history(routine), [{ dueAt: moment, firedAt: moment, outcome: 'created', reason: null }])
  const after = await app.make('GET', `/api/routines/${routine.id}`)
  assert.equal(after.nextDueAt, '2026-11-21T11:00:00.000Z')
})

test('after downtime a routine runs once for all missed times, and an interval keeps its phase', async (t) => {
  const app = await setUp(t)
  const interval = await app.create({ intervalSec: 3600, overlap: 'allow' })
  const cron = await app.create({ cron: '0 * * * *', overlap: 'allow' })
  await app.at('2026-11-23T12:20:00.000Z')
  await app.tick()
  for (const routine of [interval, cron]) {
    const history = await app.history(routine)
    assert.deepEqual(
      history.map(({ dueAt, firedAt }: { dueAt: string; firedAt: string }) => [dueAt, firedAt]),
      [['2026-11-21T10:00:00.000Z', '2026-11-23T12:20:00.000Z']],
    )
    const after = await app.make('GET', `/api/routines/${routine.id}`)
    assert.equal(after.nextDueAt, '2026-11-23T13:00:00.000Z')
  }
  assert.equal((await app.issues()).length, 2)
})

test('a schedule at nine in Berlin runs at nine in summer and in winter', async (t) => {
  const app = await setUp(t)
  app.clock.set('2027-03-26T12:00:00.000Z')
  const { id, timeZone } = await app.create({ cron: '0 9 * * *', timeZone: 'Europe/Berlin', overlap: 'allow' })
  assert.equal(timeZone, 'Europe/Berlin')
  const next = async () => (await app.make('GET', `/api/routines/${id}`)).nextDueAt
  assert.equal(await next(), '2027-03-27T08:00:00.000Z')
  await app.at('2027-03-27T08:00:00.000Z')
  assert.equal(await next(), '2027-03-28T07:00:00.000Z')
  await app.at('2027-10-30T07:00:00.000Z')
  assert.equal(await next(), '2027-10-31T08:00:00.000Z')
})

test('a time that the spring change skips runs once, at the change', async (t) => {
  const app = await setUp(t)
  app.clock.set('2027-03-27T12:00:00.000Z')
  const routine = await app.create({ cron: '30 2 * * *', timeZone: 'Europe/Berlin', overlap: 'allow' })
  for (let hour = 0; hour < 24; hour++) await app.at(new Date(Date.UTC(2027, 2, 27, 23 + hour)).toISOString())
  const moments = (await app.history(routine)).map(({ dueAt }: { dueAt: string }) => dueAt)
  assert.deepEqual(moments, ['2027-03-28T01:00:00.000Z'])
})

test('a time that the autumn change repeats runs once', async (t) => {
  const app = await setUp(t)
  app.clock.set('2027-10-30T12:00:00.000Z')
  const routine = await app.create({ cron: '30 2 * * *', timeZone: 'Europe/Berlin', overlap: 'allow' })
  for (let half = 0; half < 48; half++) await app.at(new Date(Date.UTC(2027, 9, 30, 22, half * 30)).toISOString())
  const moments = (await app.history(routine)).map(({ dueAt }: { dueAt: string }) => dueAt)
  assert.deepEqual(moments, ['2027-10-31T00:30:00.000Z'])
})

test('if the clock is set back, the schedule is shifted with it', async (t) => {
  const app = await setUp(t)
  const interval = await app.create({ intervalSec: 3600 })
  const cron = await app.create({ cron: '*/10 * * * *' })
  await app.tick()
  await app.at('2026-11-20T09:05:00.000Z')
  const nexts = (await app.request('GET', app.routines)).body.map((routine: { nextDueAt: string }) => routine.nextDueAt)
  assert.deepEqual([interval.nextDueAt, cron.nextDueAt], ['2026-11-21T10:00:00.000Z', '2026-11-21T09:10:00.000Z'])
  assert.deepEqual(nexts, ['2026-11-20T10:05:00.000Z', '2026-11-20T09:10:00.000Z'])
})

test('a routine with the policy skip creates no issue while its last issue is open', async (t) => {
  const app = await setUp(t)
  const routine = await app.create({ intervalSec: 3600 })
  await app.at('2026-11-21T10:00:00.000Z')
  await app.at('2026-11-21T11:00:00.000Z')
  const [issue] = await app.issues()
  const [, second] = await app.history(routine)
  assert.deepEqual([second.outcome, second.reason], ['skipped', `${issue.identifier} is still todo.`])
  await app.make('PATCH', `/api/issues/${issue.id}`, { status: 'cancelled' })
  await app.at('2026-11-21T12:00:00.000Z')
  assert.equal((await app.issues()).length, 2)
})

test('a routine with the policy queue runs after its open issue is closed, with at most one queued run', async (t) => {
  const app = await setUp(t)
  const routine = await app.create({ intervalSec: 3600, overlap: 'queue' })
  for (const hour of [10, 11, 12]) await app.at(`2026-11-21T${hour}:00:00.000Z`)
  const outcomes = async () => (await app.history(routine)).map(({ outcome }: { outcome: string }) => outcome)
  assert.deepEqual(await outcomes(), ['created', 'queued', 'skipped'])
  const [issue] = await app.issues()
  await app.make('PATCH', `/api/issues/${issue.id}`, { status: 'cancelled' })
  await app.at('2026-11-21T12:10:00.000Z')
  await app.tick()
  const last = (await app.history(routine)).at(-1)
  assert.deepEqual(
    [last.outcome, last.dueAt, last.firedAt],
    ['created', '2026-11-21T11:00:00.000Z', '2026-11-21T12:10:00.000Z'],
  )
  assert.equal((await app.issues()).length, 2)
  assert.equal((await app.make('GET', `/api/routines/${routine.id}`)).queuedDueAt, null)
})

test('a routine with the policy allow has several open issues', async (t) => {
  const app = await setUp(t)
  await app.create({ intervalSec: 3600, overlap: 'allow' })
  for (const hour of [10, 11, 12]) await app.at(`2026-11-21T${hour}:00:00.000Z`)
  assert.equal((await app.issues()).length, 3)
})

const OBSTACLES: [string, (app: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>, string][] = [
  [
    'a paused company',
    (app) => app.make('PATCH', `/api/companies/${app.companyId}`, { status: 'paused' }),
    'The company is paused.',
  ],
  [
    'an archived company',
    (app) => app.make('POST', `/api/companies/${app.companyId}/archive`),
    'The company is archived.',
  ],
  ['a frozen instance', (app) => app.make('POST', '/api/instance/freeze'), 'All runs are frozen.'],
  [
    'a terminated assignee',
    (app) => app.make('POST', `/api/agents/${app.ada.id}/terminate`),
    'The assignee Ada is terminated. Set another one.',
  ],
]
for (const [what, arrange, reason] of OBSTACLES) {
  test(`with ${what} a routine creates no issue and records this in its history`, async (t) => {
    const app = await setUp(t)
    const routine = await app.create({ intervalSec: 3600 })
    await arrange(app)
    assert.equal(nextWorkDue(app.ctx), '2026-11-21T10:00:00.000Z')
    await app.at('2026-11-21T10:00:00.000Z')
    assert.deepEqual(await app.issues(), [])
    const moment = '2026-11-21T10:00:00.000Z'
    assert.deepEqual(await app.history(routine), [{ dueAt: moment, firedAt: moment, outcome: 'skipped', reason }])
    assert.equal(nextWorkDue(app.ctx), '2026-11-21T11:00:00.000Z')
  })
}

test('a routine with an invalid schedule is paused and does not block other routines', async (t) => {
  const app = await setUp(t)
  const broken = await app.create({ cron: '0 * * * *', timeZone: 'Europe/Berlin' })
  await app.create({ cron: '0 * * * *' })
  app.ctx.db.run(sql.updateTable('routine').set({ time_zone: 'Mars/Base' }).where('id', '=', broken.id))
  await app.at('2026-11-21T10:00:00.000Z')
  assert.equal((await app.issues()).length, 2)
  assert.equal((await app.make('GET', `/api/routines/${broken.id}`)).status, 'paused')
})

test('the history keeps the latest thousand entries and the entry of the open issue', async (t) => {
  const app = await setUp(t)
  const { id } = await app.create({ intervalSec: 60 })
  await app.ctx.write(() => {
    for (let n = 1; n <= 1_010; n++) {
      app.clock.move(60_000)
      app.ctx.db.run(sql.updateTable('routine').set({ next_due_at: app.ctx.now }).where('id', '=', id))
      stageRoutines(app.ctx)
    }
  })
  const count = sql.selectFrom('routine_run').select(raw<number>`count(*)`.as('n')).compile()
  assert.equal(app.ctx.db.first(count)!.n, 1_001)
  assert.equal((await app.issues()).length, 1)
})
