import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { CHECKS } from '../../../src/clients/doctor/checks.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runCommand } from './in-process.ts'
import { startService } from './service.ts'

interface Result {
  id: string
  status: string
  message: string
  hint?: string
  // biome-ignore lint/suspicious/noExplicitAny: each check has its own details.
  details: any
}

async function examine(t: TestContext, dataDir: string, env: Record<string, string> = {}) {
  const { code, out } = await runCommand(t, ['doctor', '--json', '--data-dir', dataDir], env)
  const checks: Result[] = JSON.parse(out).checks
  return { code, ok: JSON.parse(out).ok, of: (id: string) => checks.filter((check) => check.id === id), checks }
}

test('every check prints a result, and an intact installation has no errors', async (t) => {
  const { code, ok, of, checks } = await examine(t, path.join(temporaryFolder(t), 'data'))
  assert.deepEqual([code, ok], [0, true], JSON.stringify(checks))
  for (const { id } of CHECKS) assert.ok(of(id).length > 0, id)
  assert.match(of('data_dir')[0]!.message, /does not exist yet/)
  assert.ok(of('disk')[0]!.details.freeBytes > 0)
})

test('doctor detects a running server and its database', async (t) => {
  const dataDir = temporaryFolder(t)
  const { url } = await startService(t, ['--data-dir', dataDir])
  const { of } = await examine(t, dataDir)
  assert.deepEqual([of('port')[0]!.status, of('port')[0]!.details.url], ['ok', url])
  const { schemaVersion, journalMode } = of('database')[0]!.details
  assert.deepEqual([schemaVersion > 0, journalMode], [true, 'wal'])
})

test('doctor prints the path and version of agent programs, and a hint for missing programs', async (t) => {
  const bin = temporaryFolder(t)
  writeFileSync(path.join(bin, 'claude'), '#!/bin/sh\necho "2.1.0 (Claude Code)"\n')
  chmodSync(path.join(bin, 'claude'), 0o755)
  const { code, of } = await examine(t, temporaryFolder(t), { PATH: `${bin}:${process.env.PATH}` })
  const [claude, codex] = of('agents')
  assert.deepEqual([claude!.details.path, claude!.details.version], [path.join(bin, 'claude'), '2.1.0 (Claude Code)'])
  assert.deepEqual([code, codex!.status], [0, 'warning'])
  assert.match(codex!.hint!, /npm install -g/)
})

test('doctor prints how to fix each error, and exits with 1', async (t) => {
  const dataDir = temporaryFolder(t)
  writeFileSync(
    path.join(dataDir, 'service.db'),
    'This is no database, but long enough for the header of one. '.repeat(20),
  )
  const damaged = await examine(t, dataDir)
  assert.deepEqual([damaged.code, damaged.ok, damaged.of('database')[0]!.status], [1, false, 'broken'])
  const file = path.join(dataDir, 'file')
  writeFileSync(file, '')
  const none = await examine(t, file)
  assert.deepEqual([none.code, none.of('settings')[0]!.status], [1, 'broken'])
  const text = await runCommand(t, ['doctor', '--data-dir', dataDir])
  assert.match(text.out, /^broken +Database +/m)
  assert.match(text.err, /1 of \d+ checks are broken/)
})

test('a data directory with keys that other users can read is an error', async (t) => {
  const dataDir = path.join(temporaryFolder(t), 'open')
  mkdirSync(dataDir, { mode: 0o755 })
  const { code, of } = await examine(t, dataDir)
  assert.deepEqual([code, of('data_dir')[0]!.status], [1, 'broken'])
  assert.match(of('data_dir')[0]!.hint!, /^chmod 700 /)
})

test('a port in use is a warning, and an error if the port was requested', async (t) => {
  const { url } = await startService(t, ['--data-dir', temporaryFolder(t)])
  const { port } = new URL(url)
  const { code, of } = await examine(t, temporaryFolder(t), { SERVICE_PORT: port })
  assert.deepEqual([code, of('port')[0]!.status], [1, 'broken'])
})

test('doctor prints the disk use by kind, and a warning if run logs exceed their limit', async (t) => {
  const dataDir = temporaryFolder(t)
  const write = (name: string, bytes: number) => {
    mkdirSync(path.dirname(path.join(dataDir, name)), { recursive: true })
    writeFileSync(path.join(dataDir, name), 'x'.repeat(bytes))
  }
  write('runs/a/log/head', 2_000)
  write('assets/b', 3_000)
  write('service.db-wal', 10)
  const [ok] = (await examine(t, dataDir)).of('disk_use')
  const { database, uploads, backups } = ok!.details.bytes
  assert.deepEqual([ok!.status, database, ok!.details.bytes['run logs'], uploads, backups], ['ok', 10, 2_000, 3_000, 0])
  assert.match(ok!.message, /database 10 bytes, run logs 2 kB, uploads 2\.9 kB/)
  writeFileSync(path.join(dataDir, 'config.json'), '{"retention":{"runLogBytes":1000}}')
  const [over] = (await examine(t, dataDir)).of('disk_use')
  assert.equal(over!.status, 'warning')
  assert.match(over!.message, /^Run logs take 2 kB, more than the limit of 1000 bytes\./)
})
