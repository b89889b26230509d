import assert from 'node:assert/strict'
import { chmodSync, renameSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../../helpers.ts'
import { runCommand } from '../cli/in-process.ts'
import { startService } from '../cli/service.ts'

test('verify and doctor check a data directory with and without a running server', async (t) => {
  const dataDir = temporaryFolder(t)
  const at = ['--data-dir', dataDir]
  const server = await startService(t, at)
  await runCommand(t, ['api', 'POST', '/api/companies', '{"name":"Tern"}', ...at])
  const company = JSON.parse((await runCommand(t, ['api', 'GET', '/api/companies', ...at])).out)[0].id
  await runCommand(t, [
    'api',
    'POST',
    `/api/companies/${company}/secrets`,
    '{"name":"KEY","value":"open sesame"}',
    ...at,
  ])
  const withServer = await runCommand(t, ['verify', ...at])
  assert.equal(withServer.code, 0, withServer.err)
  assert.match(withServer.out, /^Tern: 2 entries, last hash \S+\nThe activity is complete and unaltered\.\n$/)
  await runCommand(t, ['stop', ...at])
  await server.ended

  assert.deepEqual((await runCommand(t, ['verify', ...at])).out, withServer.out)
  const noted = /last hash (\S+)/.exec(withServer.out)![1]!
  assert.equal((await runCommand(t, ['verify', '--noted', noted, ...at])).code, 0)
  assert.equal((await runCommand(t, ['verify', '--noted', 'another', ...at])).code, 1)
  const healthy = await runCommand(t, ['doctor', '--deep', ...at])
  assert.equal(healthy.code, 0, healthy.out + healthy.err)
  assert.match(healthy.out, /^ok +Content +integrity: no faults$/m)

  // This is the state after a restore of only the database. The check creates no new key.
  const key = path.join(dataDir, 'keys', 'secret.key')
  renameSync(key, `${key}.away`)
  const locked = await runCommand(t, ['doctor', ...at])
  assert.equal(locked.code, 1)
  assert.match(locked.out, /^broken +secrets: KEY of the secrets cannot be decrypted: .* Restore that key/m)
  renameSync(`${key}.away`, key)

  const sqlite = new Database(path.join(dataDir, 'service.db'))
  sqlite.exec("drop trigger activity_is_append_only; update activity set action = 'company.blessed' where seq = 1")
  sqlite.close()
  const altered = await runCommand(t, ['verify', '--json', ...at])
  assert.equal(altered.code, 1)
  assert.equal(JSON.parse(altered.out).findings.length, 1)
  assert.match(altered.err, /was altered/)
  assert.equal((await runCommand(t, ['doctor', ...at])).code, 0)
  const sick = await runCommand(t, ['doctor', '--deep', ...at])
  assert.equal(sick.code, 1)
  assert.match(sick.out, /^broken +activity chain: Activity /m)
  chmodSync(dataDir, 0o755)
  assert.match((await runCommand(t, ['doctor', ...at])).out, /^broken +Data directory .*\n +chmod 700/m)
})

test('a data directory without a database is reported', async (t) => {
  const { code, err } = await runCommand(t, ['verify', '--data-dir', temporaryFolder(t)])
  assert.equal(code, 5)
  assert.match(err, /There is no database in /)
})
