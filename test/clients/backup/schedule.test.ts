import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { dailyName, expiredBackups, scheduleBackups } from '../../../src/clients/backup/schedule.ts'
import { readConfig } from '../../../src/platform/config.ts'
import { createLog } from '../../../src/platform/log.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runService, startService } from '../cli/service.ts'

/** Returns the names of the daily backups of the given number of days up to 2026-11-22, a Sunday. */
const days = (count: number) => Array.from({ length: count }, (_, i) => dailyName(new Date(Date.UTC(2026, 10, 22 - i))))

const KEEP = { keepDaily: 7, keepWeekly: 4 }

test('the newest seven daily backups and the newest backup of each of the four weeks before are kept', () => {
  const names = days(60)
  const expired = expiredBackups(names, KEEP)
  const stored = names.filter((name) => !expired.includes(name))
  assert.deepEqual(
    stored.slice(7),
    ['2026-11-15', '2026-11-08', '2026-11-01', '2026-10-25'].map((day) => `daily-${day}.tar.gz`),
  )
})

test('with missing days the next run deletes only expired backups', () => {
  assert.deepEqual(expiredBackups(days(7), KEEP), [])
  assert.deepEqual(expiredBackups(['daily-2020-01-01.tar.gz', ...days(7)], KEEP), [])
})

test('manual backups are never deleted', () => {
  const byHand = ['service-2020-01-01T00-00-00Z.tar.gz', 'mine.tar.gz', 'daily-2020-01-01.tar.gz.copy']
  assert.deepEqual(expiredBackups([...byHand, ...days(3)], { keepDaily: 1, keepWeekly: 0 }), days(3).slice(1))
})

test('the server writes the daily backup once, in a separate process, and deletes expired backups', async (t) => {
  const dataDir = temporaryFolder(t)
  const at = ['--data-dir', dataDir]
  const server = await startService(t, at)
  await runService(t, ['api', 'POST', '/api/companies', '{"name":"Tern"}', ...at])
  const folder = path.join(dataDir, 'backups')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'daily-2020-01-01.tar.gz'), '')
  writeFileSync(path.join(dataDir, 'config.json'), '{"backups":{"keepDaily":1,"keepWeekly":0}}')
  const config = readConfig({ dataDir }, process.env)
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const written = new Promise<void>((resolve) => {
    watch(folder, (_event, name) => name === 'daily-2020-01-01.tar.gz' && resolve()).unref()
  })
  const failures: string[] = []
  const end = scheduleBackups(
    config,
    createLog((line) => failures.push(line)),
    () => true,
  )
  t.mock.timers.tick(120_000)
  t.mock.timers.tick(3_600_000)
  await written
  end()
  t.mock.timers.reset()
  assert.deepEqual(failures, [])
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('.')),
    [dailyName(new Date())],
  )
  process.kill(server.pid)
  await server.ended
})
