import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { setUp } from './set-up.ts'

const FAULTY: [object, string, RegExp][] = [
  [{ cron: '61 * * * *' }, 'cron', /Invalid value for minute/],
  [{ cron: 'every monday' }, 'cron', /five/],
  [{ cron: '* * * * * *' }, 'cron', /exactly 5 parts/],
  [{ cron: '0 0 30 2 *' }, 'cron', /never occurs/],
  [{ cron: '2027-01-01T00:00:00' }, 'cron', /is a date/],
  [{ cron: '0 9 * * 1', timeZone: 'Mars/Base' }, 'timeZone', /Mars\/Base is not a time zone/],
  [{ cron: '0 9 * * 1', intervalSec: 3600 }, 'intervalSec', /together with cron/],
  [{ intervalSec: 59 }, 'intervalSec', /from 60/],
  [{ intervalSec: 3600, timeZone: 'UTC' }, 'timeZone', /requires a cron expression/],
]
for (const [schedule, path, message] of FAULTY) {
  test(`the schedule ${JSON.stringify(schedule)} is refused, and the error gives the reason`, async (t) => {
    const app = await setUp(t)
    const { status, body } = await app.request('POST', app.routines, { ...app.body, ...schedule })
    assert.equal(status, 400)
    assert.equal(body.details.fields[0].path, path)
    assert.match(body.details.fields[0].message, message)
    assert.deepEqual((await app.request('GET', app.routines)).body, [])
  })
}

test('a changed schedule applies from the time of the change, and an interval replaces a cron expression', async (t) => {
  const app = await setUp(t)
  const { id } = await app.create({ cron: '0 12 * * *', timeZone: 'Asia/Tokyo' })
  const changed = await app.make('PATCH', `/api/routines/${id}`, { intervalSec: 600, title: 'Mop' })
  assert.deepEqual(
    [changed.title, changed.cron, changed.timeZone, changed.intervalSec, changed.nextDueAt],
    ['Mop', null, null, 600, '2026-11-21T09:10:00.000Z'],
  )
  const back = await app.make('PATCH', `/api/routines/${id}`, { cron: '0 12 * * *' })
  assert.deepEqual([back.timeZone, back.intervalSec, back.nextDueAt], ['UTC', null, '2026-11-21T12:00:00.000Z'])
  const byHand = await app.make('PATCH', `/api/routines/${id}`, { cron: null })
  assert.deepEqual([byHand.cron, byHand.timeZone, byHand.nextDueAt], [null, null, null])
})

test('a paused routine creates no issues, and does not catch up after it is resumed', async (t) => {
  const app = await setUp(t)
  const { id } = await app.create({ cron: '0 * * * *' })
  const paused = await app.make('POST', `/api/routines/${id}/pause`)
  assert.deepEqual([paused.status, paused.nextDueAt], ['paused', null])
  await app.at('2026-11-21T12:30:00.000Z')
  const resumed = await app.make('POST', `/api/routines/${id}/resume`)
  assert.deepEqual([resumed.status, resumed.nextDueAt], ['active', '2026-11-21T13:00:00.000Z'])
  await app.tick()
  assert.deepEqual(await app.issues(), [])
})

test('a manual run creates the issue as the requester, even if the routine is paused, but not while an issue is open', async (t) => {
  const app = await setUp(t)
  const { id } = await app.create({ cron: '0 * * * *', status: 'paused' })
  const run = await app.mia.request('POST', `/api/routines/${id}/run`)
  assert.deepEqual([run.status, run.body.source, run.body.outcome], [201, 'by_hand', 'created'])
  const [issue] = await app.issues()
  assert.deepEqual([issue.id, issue.createdByAgentId], [run.body.issueId, app.mia.id])
  const again = await app.request('POST', `/api/routines/${id}/run`)
  assert.equal(again.status, 409)
  assert.equal(again.body.details.issueId, issue.id)
})

test('managers can create and change only routines of their reports; every agent can read them', async (t) => {
  const app = await setUp(t)
  const body = { ...app.body, intervalSec: 3600 }
  const made = await app.mia.request('POST', app.routines, body)
  assert.equal(made.status, 201)
  assert.equal(made.body.createdByAgentId, app.mia.id)
  assert.equal((await app.cleo.request('POST', app.routines, body)).status, 201)
  for (const assigneeAgentId of [app.mia.id, app.bob.id, app.cleo.id]) {
    assert.equal((await app.mia.request('POST', app.routines, { ...body, assigneeAgentId })).status, 403)
  }
  const bobs = await app.create({ assigneeAgentId: app.bob.id, intervalSec: 3600 })
  for (const [method, end, change] of [
    ['PATCH', '', { title: 'Mine' }],
    ['POST', '/run', undefined],
    ['POST', '/pause', undefined],
    ['DELETE', '', undefined],
  ] as const) {
    assert.equal((await app.mia.request(method, `/api/routines/${bobs.id}${end}`, change)).status, 403)
    assert.equal((await app.ada.request(method, `/api/routines/${made.body.id}${end}`, change)).status, 403)
  }
  const own = `/api/routines/${made.body.id}`
  assert.equal((await app.mia.request('PATCH', own, { assigneeAgentId: app.bob.id })).status, 403)
  assert.equal((await app.mia.request('PATCH', own, { priority: 'low' })).status, 200)
  assert.equal((await app.ada.request('GET', app.routines)).body.length, 3)
  assert.equal((await app.ada.request('GET', `${own}/history`)).status, 200)
})

test('references to unknown objects and terminated assignees are refused, and the error names the field', async (t) => {
  const app = await setUp(t)
  for (const field of ['projectId', 'goalId', 'parentId', 'assigneeAgentId']) {
    const { status, body } = await app.request('POST', app.routines, {
      ...app.body,
      intervalSec: 60,
      [field]: 'nothing',
    })
    assert.deepEqual([status, body.details.fields[0].path], [422, field])
  }
  await app.make('POST', `/api/agents/${app.ada.id}/terminate`)
  const refused = await app.request('POST', app.routines, { ...app.body, intervalSec: 60 })
  assert.deepEqual([refused.status, refused.body.code], [422, 'agent_not_ready'])
})

test('deleting a routine deletes its history and keeps its issues', async (t) => {
  const app = await setUp(t)
  const { id } = await app.create({ intervalSec: 3600 })
  await app.make('POST', `/api/routines/${id}/run`)
  await app.make('DELETE', `/api/routines/${id}`)
  assert.equal((await app.request('GET', `/api/routines/${id}`)).status, 404)
  assert.equal((await app.issues()).length, 1)
})

test('objects that a routine references can be deleted, and so can its company', async (t) => {
  const app = await setUp(t)
  const at = `/api/companies/${app.companyId}`
  const goal = await app.make('POST', `${at}/goals`, { title: 'Clean' })
  const label = await app.make('POST', `${at}/labels`, { name: 'chore' })
  const { id } = await app.create({ intervalSec: 3600, goalId: goal.id, labelIds: [label.id] })
  await app.make('DELETE', `/api/goals/${goal.id}`)
  await app.make('DELETE', `/api/labels/${label.id}`)
  const left = await app.make('GET', `/api/routines/${id}`)
  assert.deepEqual([left.goalId, left.labelIds], [null, []])
  await app.make('DELETE', `${at}?confirm=Acme`)
  assert.equal((await app.request('GET', `/api/routines/${id}`)).status, 404)
})

test('changes of a routine are recorded in the activity', async (t) => {
  const app = await setUp(t)
  const { id } = await app.create({ intervalSec: 3600 })
  await app.make('PATCH', `/api/routines/${id}`, { title: 'Mop', status: 'paused' })
  await app.make('POST', `/api/routines/${id}/resume`)
  await app.make('POST', `/api/routines/${id}/run`)
  await app.make('DELETE', `/api/routines/${id}`)
  const { body } = await app.request('GET', `/api/companies/${app.companyId}/activity?entityId=${id}`)
  assert.deepEqual(body.map((row: { action: string }) => row.action.replace('routine.', '')).toReversed(), [
    'created',
    'updated',
    'paused',
    'resumed',
    'fired',
    'deleted',
  ])
})

test('routines of another company return 404', async (t) => {
  const app = await setUp(t)
  const { id } = await app.create({ intervalSec: 3600 })
  const other = createTestApp(t)
  assert.equal((await other.request('GET', `/api/routines/${id}`)).status, 404)
})
