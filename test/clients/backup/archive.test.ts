import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { filesBelow, writeArchive } from '../../../src/clients/backup/archive.ts'
import { createBackup } from '../../../src/clients/backup/create.ts'
import { createTestApp, temporaryFolder } from '../../helpers.ts'

test('a backup does not read what an agent put in the place of a listed file: a link, a linked folder, a pipe', async (t) => {
  const folder = temporaryFolder(t)
  const agents = path.join(folder, 'agents')
  const secrets = path.join(folder, 'secrets')
  for (const name of ['a', 'b', 'c', 'd', 'e']) mkdirSync(path.join(agents, name), { recursive: true })
  mkdirSync(secrets)
  writeFileSync(path.join(secrets, 'note'), 'not for agents')
  for (const name of ['a', 'b', 'c', 'd', 'e']) writeFileSync(path.join(agents, name, 'note'), `the note of ${name}`)
  const files = await filesBelow(agents, 'agents')
  assert.equal(files.length, 5)
  for (const name of ['a', 'c', 'd']) rmSync(path.join(agents, name, 'note'))
  symlinkSync(path.join(secrets, 'note'), path.join(agents, 'a/note'))
  renameSync(path.join(agents, 'b'), path.join(folder, 'b'))
  symlinkSync(secrets, path.join(agents, 'b'))
  execFileSync('mkfifo', [path.join(agents, 'c/note')])
  const out = path.join(folder, 'archive')
  const about = { version: '1', schema: 1, createdAt: '2026-11-22T00:00:00.000Z', dataDir: folder, hasKeys: false }
  await writeArchive(out, files, about, () => {})
  const text = gunzipSync(readFileSync(out)).toString('latin1')
  assert.match(text, /the note of e/)
  assert.doesNotMatch(text, /not for agents/)
})

test('a backup of a database with many faults names the first ones and counts the others', async (t) => {
  const { config, make } = createTestApp(t)
  const company = await make('POST', '/api/companies', { name: 'Tern' })
  for (let n = 0; n < 9; n++)
    await make('POST', `/api/companies/${company.id}/labels`, { name: `label ${n}`, color: '#112233' })
  const sqlite = new Database(path.join(config.dataDir, 'service.db'))
  sqlite.exec("drop trigger activity_is_append_only; update activity set action = 'company.blessed'")
  sqlite.close()
  const out = path.join(temporaryFolder(t), 'backup.tar.gz')
  await assert.rejects(createBackup({ dataDir: config.dataDir, out, now: new Date() }), ({ message }) => {
    assert.equal(message.match(/ of Tern was altered/g)?.length, 3)
    assert.match(message, /There are [7-9] more: see `service doctor --deep`\.$/)
    return true
  })
})
