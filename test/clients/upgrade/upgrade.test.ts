import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { seed } from '../../../bench/seed.ts'
import { rehearseMigration } from '../../../src/clients/upgrade/dry-run.ts'
import { compareVersions, fetchNewestVersion } from '../../../src/clients/upgrade/newest-version.ts'
import { SCHEMA_VERSION, WrongDatabase } from '../../../src/platform/database/migrate.ts'
import { temporaryFolder } from '../../helpers.ts'
import { STEPS } from '../../platform/database/steps.ts'
import { runService } from '../cli/service.ts'

test('a dry run migrates a copy and does not change the database', async (t) => {
  const dataDir = temporaryFolder(t)
  seed(dataDir, 20)
  const { bytes, ...displayed } = await rehearseMigration(dataDir, STEPS)
  assert.ok(bytes > 100_000)
  assert.deepEqual(
    { ...displayed, steps: displayed.steps.map(({ summary }) => summary) },
    {
      fromSchema: SCHEMA_VERSION,
      toSchema: SCHEMA_VERSION + 2,
      steps: ['Copy the database to the backups.', ...STEPS.map(({ summary }) => summary), 'Check every reference.'],
    },
  )
  const sqlite = new Database(path.join(dataDir, 'service.db'), { readonly: true })
  t.after(() => sqlite.close())
  assert.equal(sqlite.pragma('user_version', { simple: true }), SCHEMA_VERSION)
  assert.deepEqual(readdirSync(path.join(dataDir, 'backups')), [])
})

test('a dry run of a current database does nothing, and one of a newer database is refused', async (t) => {
  const dataDir = temporaryFolder(t)
  await assert.rejects(rehearseMigration(dataDir), /There is no database/)
  seed(dataDir, 1)
  assert.deepEqual((await rehearseMigration(dataDir)).steps, [])
  const sqlite = new Database(path.join(dataDir, 'service.db'))
  sqlite.pragma(`user_version = ${SCHEMA_VERSION + 1}`)
  sqlite.close()
  await assert.rejects(rehearseMigration(dataDir), WrongDatabase)
})

/** Starts a registry on loopback. @returns its URL and the paths of its requests */
async function startRegistry(t: TestContext, status: number, body: unknown) {
  const requested: string[] = []
  const server = createServer((request, response) => {
    requested.push(request.url!)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: requested }
}

test('the newest version is read from the registry, and the request contains only the package name', async (t) => {
  const { url, asked: requested } = await startRegistry(t, 200, { version: '9.8.7' })
  assert.equal(await fetchNewestVersion(url), '9.8.7')
  assert.deepEqual(requested, ['/@service-board%2fservice/latest'])
  const { code, out } = await runService(t, ['upgrade', '--check', '--registry', url])
  assert.deepEqual([code, out.startsWith('9.8.7 is available')], [0, true])
})

test('without a network or a package the check reports the reason', async (t) => {
  const missing = await startRegistry(t, 404, {})
  await assert.rejects(fetchNewestVersion(missing.url), /is not published at 127\.0\.0\.1/)
  const broken = await startRegistry(t, 200, { version: '<html>' })
  await assert.rejects(fetchNewestVersion(broken.url), /responded with 200 and no version/)
  await assert.rejects(
    fetchNewestVersion('http://127.0.0.1:1'),
    /127\.0\.0\.1:1 cannot be reached .* Nothing was changed/,
  )
})

test('versions are compared by their numbers', () => {
  assert.equal(compareVersions('0.10.0', '0.9.9'), 1)
  assert.equal(compareVersions('1.0.0', '1.0.0-beta.1'), 0)
  assert.equal(compareVersions('1.2.3', '1.3.0'), -1)
})
