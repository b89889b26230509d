import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../helpers.ts'
import { exportAll, importNew, inline } from './fixtures.ts'

const FILES = {
  'COMPANY.md': '---\nname: Walrus\n---\n',
  'agents/ada/AGENTS.md': '---\nname: Ada\n---\nSweep.\n',
  'tasks/sweep/TASK.md':
    '---\nname: Sweep\nassignee: ada\nrecurring: true\nschedule:\n  cron: 0 9 * * 1\n  timezone: Europe/Berlin\n  overlap: queue\n---\nAll of it.\n',
  'tasks/count/TASK.md': '---\nname: Count\nassignee: ada\nschedule:\n  intervalSec: 3600\n---\n',
}

test('a recurring task comes in as a routine that is paused, whatever the package says', async (t) => {
  const app = createTestApp(t)
  const { target, counts } = await importNew(app, FILES)
  assert.equal(counts.byKind.routine.create, 2)
  const { body } = await app.ask('GET', `/api/companies/${target.companyId}/routines`)
  const [ada] = (await app.ask('GET', `/api/companies/${target.companyId}/agents`)).body
  const sweep = body.find((routine: { title: string }) => routine.title === 'Sweep')
  assert.deepEqual(
    [sweep.cron, sweep.timeZone, sweep.overlap, sweep.description, sweep.assigneeAgentId, sweep.status],
    ['0 9 * * 1', 'Europe/Berlin', 'queue', 'All of it.', ada.id, 'paused'],
  )
  const count = body.find((routine: { title: string }) => routine.title === 'Count')
  assert.deepEqual([count.intervalSec, count.overlap, count.status, count.nextDueAt], [3600, 'skip', 'paused', null])
})

test('routines go out as they are and come back the same, beside issues of the same title', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, FILES)
  const at = `/api/companies/${target.companyId}`
  const label = await app.make('POST', `${at}/labels`, { name: 'chore' })
  const [routine] = (await app.ask('GET', `${at}/routines`)).body
  await app.make('PATCH', `/api/routines/${routine.id}`, { priority: 'high', labelIds: [label.id] })
  await app.make('POST', `/api/routines/${routine.id}/run`)
  const project = await app.make('POST', `${at}/projects`, { name: 'Yard' })
  const body = { title: 'Sweep', assigneeAgentId: routine.assigneeAgentId, projectId: project.id, intervalSec: 60 }
  await app.make('POST', `${at}/routines`, body)

  const first = await exportAll(app, target.companyId)
  assert.deepEqual(Object.keys(first).filter((path) => path.endsWith('TASK.md')).length, 4)
  const again = await importNew(app, first)
  assert.deepEqual(await exportAll(app, again.target.companyId), first)
  const routines = (await app.ask('GET', `/api/companies/${again.target.companyId}/routines`)).body
  const copy = routines.find((one: { title: string; projectId: null }) => one.title === routine.title && !one.projectId)
  assert.deepEqual([copy.priority, copy.labelIds.length, copy.status], ['high', 1, 'paused'])
  assert.equal(routines.length, 3)
})

test('a schedule that cannot be followed is a problem of the package that names the file', async (t) => {
  const app = createTestApp(t)
  const files = { ...FILES, 'tasks/sweep/TASK.md': FILES['tasks/sweep/TASK.md'].replace('Europe/Berlin', 'Mars/Base') }
  const { status, body } = await app.ask('POST', '/api/companies/import/preview', {
    source: inline(files),
    target: { mode: 'new_company' },
  })
  assert.ok(status === 400 || status === 422)
  assert.match(JSON.stringify(body), /tasks\/sweep\/TASK\.md.*Mars\/Base is no time zone/)
})

test('a routine without an assignee waits for one before it can be resumed', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, {
    ...FILES,
    'tasks/count/TASK.md': '---\nname: Count\nschedule: "0 9 * * *"\n---\n',
  })
  const routines = (await app.ask('GET', `/api/companies/${target.companyId}/routines`)).body
  const { id } = routines.find((routine: { title: string }) => routine.title === 'Count')
  assert.equal((await app.ask('POST', `/api/routines/${id}/resume`)).status, 422)
  const resumed = await app.make('PATCH', `/api/routines/${id}`, { assigneeAgentId: 'ada', status: 'active' })
  assert.equal(resumed.nextDueAt, '2026-11-22T09:00:00.000Z')
})
