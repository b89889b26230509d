import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { importNew } from '../fixtures.ts'

const files = (schedule: string) => ({
  'COMPANY.md': '---\nname: Otter\nlicense: MIT\n---\n',
  'agents/kit/AGENTS.md': '---\nname: Kit\n---\nWork.\n',
  'tasks/review/TASK.md': `---\nname: Review\nassignee: kit\nschedule:\n  timezone: America/Chicago\n  startsAt: 2026-03-16T09:30:00-05:00\n  recurrence:\n${schedule.replaceAll(/^/gm, '    ')}\n---\nLook back.\n`,
})

const CASES: [string, string, string][] = [
  [
    'every Monday and Friday',
    'frequency: weekly\nweekdays: [monday, friday]\ntime: {hour: 9, minute: 5}',
    '5 9 * * 1,5',
  ],
  ['every week, on the day and at the time of its start', 'frequency: weekly\ninterval: 1', '30 9 * * 1'],
  ['every day', 'frequency: daily\ntime: {hour: 7}', '0 7 * * *'],
  ['every hour', 'frequency: hourly', '30 * * * *'],
  ['every month', 'frequency: monthly\nmonthDays: [1, 15]', '30 9 1,15 * *'],
  ['every year', 'frequency: yearly', '30 9 16 3 *'],
]

for (const [title, schedule, cron] of CASES) {
  test(`a task that recurs ${title} becomes a routine`, async (t) => {
    const app = createTestApp(t)
    const { target } = await importNew(app, files(schedule))
    const [routine] = await app.make('GET', `/api/companies/${target.companyId}/routines`)
    assert.deepEqual([routine.cron, routine.timeZone, routine.status], [cron, 'America/Chicago', 'paused'])
  })
}

test('a recurrence that routines do not support becomes a task, with a warning', async (t) => {
  const app = createTestApp(t)
  for (const schedule of ['frequency: weekly\ninterval: 2', 'frequency: daily\ncount: 3', 'frequency: often']) {
    const { target, warnings } = await importNew(app, files(schedule))
    assert.deepEqual(await app.make('GET', `/api/companies/${target.companyId}/routines`), [])
    assert.match(warnings.find(({ code }: { code: string }) => code === 'routine').message, /imported as a single task/)
  }
})
