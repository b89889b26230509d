import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fixAll } from '../../../src/clients/doctor/fix.ts'
import { lockDataDir } from '../../../src/platform/database/lock.ts'
import { temporaryFolder } from '../../helpers.ts'

/** The pid of a process that has ended. */
const deadPid = () => spawnSync(process.execPath, ['-e', '0']).pid

/** Creates a data directory as killed processes leave it. */
function arrange(dataDir: string): void {
  const write = (name: string, mode: number) => {
    mkdirSync(path.dirname(path.join(dataDir, name)), { recursive: true, mode: 0o700 })
    writeFileSync(path.join(dataDir, name), '{}')
    chmodSync(path.join(dataDir, name), mode)
  }
  write('config.json', 0o644)
  write('keys/secret.key', 0o600)
  write('keys/one-time.json', 0o600)
  write('server.json', 0o600)
  write('restore-pending.json.tmp', 0o600)
  write('.restore-abc/files/service.db', 0o600)
  write(`backups/.backup-${deadPid()}-abc/service.db`, 0o600)
  write(`backups/.backup-${process.pid}-abc/service.db`, 0o600)
  write('backups/daily-2026-11-22.tar.gz', 0o600)
  write('worktrees/1/work.txt', 0o600)
  mkdirSync(path.join(dataDir, 'worktrees', '2'))
}

test('doctor --fix corrects permissions, deletes what killed processes left, and keeps all data', (t) => {
  const dataDir = temporaryFolder(t)
  arrange(dataDir)
  const fixed = fixAll(dataDir).map(({ id, message }) => `${id}: ${message.replaceAll(dataDir, '')}`)
  assert.deepEqual(
    fixed.map((one) => one.replace(/\.backup-\d+-abc/, '.backup')),
    [
      'permissions: Changed the permissions of /config.json from 644 to 600.',
      'stale_files: Removed /server.json, which a killed server left.',
      'stale_files: Removed /keys/one-time.json, which a killed server left.',
      'temporary_files: Removed /restore-pending.json.tmp, which a killed command left.',
      'temporary_files: Removed /.restore-abc, which a killed command left.',
      'temporary_files: Removed /backups/.backup, which a killed command left.',
      'empty_worktrees: Removed the empty folder /worktrees/2.',
    ],
  )
  assert.equal(statSync(path.join(dataDir, 'config.json')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(path.join(dataDir, 'keys')), ['secret.key'])
  assert.deepEqual(readdirSync(path.join(dataDir, 'backups')), [
    `.backup-${process.pid}-abc`,
    'daily-2026-11-22.tar.gz',
  ])
  assert.ok(existsSync(path.join(dataDir, 'worktrees/1/work.txt')))
  assert.deepEqual(fixAll(dataDir), [])
})

test('doctor --fix keeps the files of a restore that the next start finishes', (t) => {
  const dataDir = temporaryFolder(t)
  arrange(dataDir)
  writeFileSync(path.join(dataDir, 'restore-pending.json'), '{}')
  fixAll(dataDir)
  assert.ok(existsSync(path.join(dataDir, '.restore-abc/files/service.db')))
})

test('doctor --fix deletes nothing while a server uses the data directory, and nothing in another folder', (t) => {
  const dataDir = temporaryFolder(t)
  arrange(dataDir)
  const lock = lockDataDir(dataDir)
  assert.deepEqual(
    fixAll(dataDir).map(({ id }) => id),
    ['permissions'],
  )
  lock.release()
  const other = temporaryFolder(t)
  writeFileSync(path.join(other, 'server.json.tmp'), '')
  assert.deepEqual(fixAll(other), [])
  assert.deepEqual(readdirSync(other), ['server.json.tmp'])
})
