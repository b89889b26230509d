import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp, type TestApp } from '../../helpers.ts'
import { exportAll, importInto, importNew, inline } from '../fixtures.ts'

const FILES = {
  'COMPANY.md': '---\nname: Walrus\n---\n',
  'agents/ada/AGENTS.md': '---\nname: Ada\n---\nSweep.\n',
  'tasks/sweep/TASK.md':
    '---\nname: Sweep\nassignee: ada\nrecurring: true\nschedule:\n  cron: 0 9 * * 1\n  timezone: Europe/Berlin\n  overlap: queue\n---\nAll of it.\n',
  'tasks/count/TASK.md': '---\nname: Count\nassignee: ada\nschedule:\n  intervalSec: 3600\n---\n',
}

test('a recurring task is imported as a paused routine, independent of the package', async (t) => {
  const app = createTestApp(t)
  const { target, counts } = await importNew(app, FILES)
  assert.equal(counts.byKind.routine.create, 2)
  const { body } = await app.request('GET', `/api/companies/${target.companyId}/routines`)
  const [ada] = (await app.request('GET', `/api/companies/${target.companyId}/agents`)).body
  const sweep = body.find((routine: { title: string }) => routine.title === 'Sweep')
  assert.deepEqual(
    [sweep.cron, sweep.timeZone, sweep.overlap, sweep.description, sweep.assigneeAgentId, sweep.status],
    ['0 9 * * 1', 'Europe/Berlin', 'queue', 'All of it.', ada.id, 'paused'],
  )
  const count = body.find((routine: { title: string }) => routine.title === 'Count')
  assert.deepEqual([count.intervalSec, count.overlap, count.status, count.nextDueAt], [3600, 'skip', 'paused', null])
})

test('an export and import of routines preserves them, also next to issues with the same title', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, FILES)
  const at = `/api/companies/${target.companyId}`
  const label = await app.make('POST', `${at}/labels`, { name: 'chore' })
  const [routine] = (await app.request('GET', `${at}/routines`)).body
  await app.make('PATCH', `/api/routines/${routine.id}`, { priority: 'high', labelIds: [label.id] })
  await app.make('POST', `/api/routines/${routine.id}/run`)
  const project = await app.make('POST', `${at}/projects`, { name: 'Yard' })
  const body = { title: 'Sweep', assigneeAgentId: routine.assigneeAgentId, projectId: project.id, intervalSec: 60 }
  await app.make('POST', `${at}/routines`, body)

  const first = await exportAll(app, target.companyId)
  assert.deepEqual(Object.keys(first).filter((path) => path.endsWith('TASK.md')).length, 4)
  const again = await importNew(app, first)
  assert.deepEqual(await exportAll(app, again.target.companyId), first)
  const routines = (await app.request('GET', `/api/companies/${again.target.companyId}/routines`)).body
  const copy = routines.find((one: { title: string; projectId: null }) => one.title === routine.title && !one.projectId)
  assert.deepEqual([copy.priority, copy.labelIds.length, copy.status], ['high', 1, 'paused'])
  assert.equal(routines.length, 3)
})

/** Creates a company with a goal, an issue, and a routine for both. */
async function arrangeBelow(app: TestApp, goalTitle = 'Clean') {
  const { target } = await importNew(app, FILES)
  const at = `/api/companies/${target.companyId}`
  const goal = await app.make('POST', `${at}/goals`, { title: goalTitle, level: 'company', status: 'active' })
  const project = await app.make('POST', `${at}/projects`, { name: 'Yard' })
  const issue = await app.make('POST', `${at}/issues`, { title: 'Autumn', projectId: project.id })
  const routines = (await app.request('GET', `${at}/routines`)).body
  const { id } = routines.find((routine: { title: string }) => routine.title === 'Sweep')
  await app.make('PATCH', `/api/routines/${id}`, { goalId: goal.id, parentId: issue.id })
  return { companyId: target.companyId, at, issue }
}

/** Returns the titles of the goal and the parent issue of the routine Sweep. */
async function aboveSweep(app: TestApp, companyId: string) {
  const of = async (what: string) => (await app.request('GET', `/api/companies/${companyId}/${what}`)).body
  const sweep = (await of('routines')).find((routine: { title: string }) => routine.title === 'Sweep')
  const titleOf = (all: { id: string; title: string }[], id: string) => all.find((one) => one.id === id)?.title
  return [titleOf(await of('goals'), sweep.goalId), titleOf(await of('issues'), sweep.parentId)]
}

for (const title of ['Clean', '2026', '清潔']) {
  test(`a round trip preserves the goal ${title} and the parent issue of a routine`, async (t) => {
    const app = createTestApp(t)
    const { companyId } = await arrangeBelow(app, title)
    const first = await exportAll(app, companyId)
    const again = await importNew(app, first)
    assert.deepEqual(await exportAll(app, again.target.companyId), first)
    assert.deepEqual(await aboveSweep(app, again.target.companyId), [title, 'Autumn'])
  })
}

test('an import into a company with the same goal and issue links the routine to them', async (t) => {
  const app = createTestApp(t)
  const { companyId } = await arrangeBelow(app)
  const files = await exportAll(app, companyId)
  const { id } = await app.make('POST', '/api/companies', { name: 'Other' })
  const without = await importInto(app, id, files, { include: { issues: false } })
  assert.equal(without.counts.byKind.goal.create, 1)
  await importInto(app, id, files, { collisionStrategy: 'skip' })
  assert.deepEqual(await aboveSweep(app, id), ['Clean', 'Autumn'])
})

test('a parent issue that is not in the package is omitted, with a warning that names the routine', async (t) => {
  const app = createTestApp(t)
  const { companyId, at, issue } = await arrangeBelow(app)
  const include = { issues: true }
  const selectedFiles = ['COMPANY.md', 'tasks/sweep/TASK.md', '.service.yaml']
  const warnings = async (body: object) => (await app.make('POST', `${at}/exports`, body)).warnings
  const expected = [
    {
      code: 'left_out',
      path: 'tasks/sweep/TASK.md',
      message: 'Its parent issue is not in the package. The routine is exported without a parent.',
    },
  ]
  assert.deepEqual(await warnings({ include }), [])
  assert.deepEqual(await warnings({ include, selectedFiles }), expected)
  const over = { code: 'left_out', path: null, message: '1 closed issue is not exported.' }
  await app.make('PATCH', `/api/issues/${issue.id}`, { status: 'cancelled' })
  assert.deepEqual(await warnings({ include }), [over, ...expected])
  const again = await importNew(app, await exportAll(app, companyId))
  assert.deepEqual(await aboveSweep(app, again.target.companyId), ['Clean', undefined])
})

test('an unknown goal or parent in a package is ignored, with a warning that names the file', async (t) => {
  const app = createTestApp(t)
  const plan = await importNew(app, {
    ...FILES,
    '.service.yaml': 'schema: service/v1\nroutines:\n  sweep:\n    goal: nowhere\n    parent: nobody\n',
  })
  const path = 'tasks/sweep/TASK.md'
  const about = plan.warnings.filter((warning: { path: string }) => warning.path === path)
  assert.deepEqual(about, [
    { code: 'unknown', path, message: 'There is no goal nowhere. The routine has no goal.' },
    { code: 'unknown', path, message: 'There is no task nobody. The routine has no parent issue.' },
  ])
  assert.deepEqual(await aboveSweep(app, plan.target.companyId), [undefined, undefined])
})

test('an invalid schedule is an error of the package, and the error names the file', async (t) => {
  const app = createTestApp(t)
  const files = { ...FILES, 'tasks/sweep/TASK.md': FILES['tasks/sweep/TASK.md'].replace('Europe/Berlin', 'Mars/Base') }
  const { status, body } = await app.request('POST', '/api/companies/import/preview', {
    source: inline(files),
    target: { mode: 'new_company' },
  })
  assert.ok(status === 400 || status === 422)
  assert.match(JSON.stringify(body), /tasks\/sweep\/TASK\.md.*Mars\/Base is not a time zone/)
})

test('a routine without an assignee cannot be resumed before it gets one', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, {
    ...FILES,
    'tasks/count/TASK.md': '---\nname: Count\nschedule: "0 9 * * *"\n---\n',
  })
  const routines = (await app.request('GET', `/api/companies/${target.companyId}/routines`)).body
  const { id } = routines.find((routine: { title: string }) => routine.title === 'Count')
  assert.equal((await app.request('POST', `/api/routines/${id}/resume`)).status, 422)
  const resumed = await app.make('PATCH', `/api/routines/${id}`, { assigneeAgentId: 'ada', status: 'active' })
  assert.equal(resumed.nextDueAt, '2026-11-22T09:00:00.000Z')
})
