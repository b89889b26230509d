import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stageRoutines } from '../../../src/work/routine/stage.ts'
import { exportAll, importNew } from '../../portability/fixtures.ts'
import { setUp } from '../issue/set-up.ts'

test('a routine without a schedule runs only on request, and a package preserves it', async (t) => {
  const app = await setUp(t)
  const { make, request, company, ada, clock, ctx } = app
  const routine = await make('POST', `/api/companies/${company.id}/routines`, {
    title: 'Release',
    assigneeAgentId: ada.id,
  })
  assert.deepEqual([routine.status, routine.cron, routine.intervalSec, routine.nextDueAt], ['active', null, null, null])
  clock.move(400 * 24 * 3_600_000)
  await ctx.write(() => stageRoutines(ctx))
  const issues = async () => (await request('GET', `/api/companies/${company.id}/issues`)).body.length
  assert.equal(await issues(), 0)
  assert.equal((await make('POST', `/api/routines/${routine.id}/run`)).outcome, 'created')
  assert.equal(await issues(), 1)
  const path = `/api/routines/${routine.id}`
  assert.ok((await make('PATCH', path, { cron: '0 9 * * 1' })).nextDueAt)
  assert.equal((await make('PATCH', path, { cron: null })).nextDueAt, null)
  await make('PATCH', path, { status: 'paused' })
  assert.equal((await make('PATCH', path, { status: 'active' })).status, 'active')
  assert.equal((await request('PATCH', path, { timeZone: 'Europe/Berlin' })).status, 400)

  const files = await exportAll(app, company.id)
  const { target } = await importNew(app, files)
  const [copy] = (await request('GET', `/api/companies/${target.companyId}/routines`)).body
  assert.deepEqual([copy.title, copy.cron, copy.intervalSec, copy.status], ['Release', null, null, 'paused'])
})
