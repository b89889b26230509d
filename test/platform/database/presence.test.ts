import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { raw, sql } from '../../../src/platform/database/sql.ts'
import { runService, startService } from '../../clients/cli/service.ts'
import { temporaryFolder } from '../../helpers.ts'
import { startTestServer } from '../../server.ts'

const post = (url: string, name: string) =>
  fetch(`${url}/api/companies`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

for (const [what, harm] of Object.entries<(dataDir: string) => void>({
  deleted: (dataDir) => rmSync(dataDir, { recursive: true }),
  moved: (dataDir) => renameSync(dataDir, `${dataDir}.moved`),
  replaced: (dataDir) => {
    copyFileSync(path.join(dataDir, 'service.db'), path.join(dataDir, 'copy'))
    renameSync(path.join(dataDir, 'copy'), path.join(dataDir, 'service.db'))
  },
  'without its WAL file': (dataDir) => rmSync(path.join(dataDir, 'service.db-wal')),
})) {
  test(`the server acknowledges no further write and exits with an error when its data directory is ${what}`, async (t) => {
    const dataDir = path.join(temporaryFolder(t), 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    const server = await startService(t, ['--data-dir', dataDir])
    assert.equal((await post(server.url, 'Before')).status, 201)
    harm(dataDir)
    const after = await post(server.url, 'After').catch(() => undefined)
    if (after) assert.deepEqual([after.status, await codeOf(after)], [500, 'database_damaged'])
    const { code, err } = await server.ended
    assert.equal(code, 1)
    assert.match(err, /was (deleted or moved|replaced) while the server used it/)
  })
}

test('refuses to start without a database if keys exist, except with --new', async (t) => {
  const dataDir = temporaryFolder(t)
  const server = await startService(t, ['--data-dir', dataDir])
  process.kill(server.pid, 'SIGTERM')
  await server.ended
  rmSync(path.join(dataDir, 'service.db'))
  const refused = await runService(t, ['start', '--port', '0', '--data-dir', dataDir])
  assert.equal(refused.code, 1)
  assert.match(refused.err, /There is no database.*--new/)
  assert.equal(existsSync(path.join(dataDir, 'service.db')), false)
  await startService(t, ['--data-dir', dataDir, '--new'])
})

test('refuses to start without a WAL file after a crash, but starts after a clean shutdown', async (t) => {
  const dataDir = temporaryFolder(t)
  const wal = path.join(dataDir, 'service.db-wal')
  const first = await startService(t, ['--data-dir', dataDir])
  process.kill(first.pid, 'SIGTERM')
  await first.ended
  assert.equal(existsSync(wal), false)
  const second = await startService(t, ['--data-dir', dataDir])
  process.kill(second.pid, 'SIGKILL')
  await second.ended
  renameSync(wal, `${wal}.away`)
  const refused = await runService(t, ['start', '--port', '0', '--data-dir', dataDir])
  assert.equal(refused.code, 1)
  assert.match(refused.err, /service\.db-wal is missing.*not closed properly/)
  renameSync(`${wal}.away`, wal)
  await startService(t, ['--data-dir', dataDir])
})

test('a request that reads a damaged page fails with a logged cause, and the server keeps running', async (t) => {
  const { server, dataDir, logged } = await startTestServer(t)
  assert.equal((await post(server.url, 'Acme')).status, 201)
  const { db } = server.ctx
  const pragma = (text: string) => db.all(raw`${raw.raw(`pragma ${text}`)}`.compile(sql))
  db.endReads()
  pragma('wal_checkpoint(truncate)')
  db.endReads()
  const file = openSync(path.join(dataDir, 'service.db'), 'r+')
  const garbage = Buffer.alloc(4096, 0xab)
  for (let page = 1; page < 40; page++) writeSync(file, garbage, 0, garbage.length, page * 4096)
  db.endReads()
  db.run(raw`${raw.raw('pragma shrink_memory')}`.compile(sql))
  const response = await fetch(`${server.url}/api/companies`)
  assert.deepEqual([response.status, await codeOf(response)], [500, 'database_damaged'])
  assert.match(logged.join(''), /SqliteError.*malformed[^"]*at .*GET \/api\/companies failed/)
  assert.equal((await post(server.url, 'More')).status, 500)
  const again = await fetch(`${server.url}/api/companies`)
  assert.equal(again.status, 500)
})

test('doctor detects a damaged file while no server runs', async (t) => {
  const dataDir = temporaryFolder(t)
  const server = await startService(t, ['--data-dir', dataDir])
  await post(server.url, 'Acme')
  process.kill(server.pid, 'SIGTERM')
  await server.ended
  const sqlite = new Database(path.join(dataDir, 'service.db'))
  const root = sqlite.prepare("select rootpage from sqlite_master where name = 'activity'").pluck().get() as number
  sqlite.close()
  const file = openSync(path.join(dataDir, 'service.db'), 'r+')
  writeSync(file, Buffer.alloc(4096, 0xab), 0, 4096, (root - 1) * 4096)
  const { code, out } = await runService(t, ['doctor', '--data-dir', dataDir])
  assert.equal(code, 1)
  assert.match(out, /The database is damaged/)
  assert.match(out, /backup/)
})
