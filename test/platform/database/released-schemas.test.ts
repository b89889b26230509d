import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import Database, { type Database as Sqlite } from 'better-sqlite3'
import { APPLICATION_ID, SCHEMA_VERSION } from '../../../src/platform/database/migrate.ts'
import { openDatabase } from '../../../src/platform/database/open.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'
import { schemaOf } from './schema-of.ts'

const SCHEMAS = path.join(packageRoot(), 'test/fixtures/schemas')
const NOW = new Date('2026-11-21T09:00:00.000Z')
const read = (name: string) => readFileSync(path.join(SCHEMAS, name), 'utf8')
const versions = readdirSync(SCHEMAS)
  .filter((name) => /^\d+\.sql$/.test(name))
  .map((name) => Number.parseInt(name, 10))
  .toSorted((a, b) => a - b)

test('the fixtures contain each schema version, and the last one equals schema.sql', () => {
  assert.deepEqual(
    versions,
    Array.from({ length: SCHEMA_VERSION }, (_, i) => i + 1),
  )
  const schema = readFileSync(path.join(packageRoot(), 'schema.sql'), 'utf8')
  assert.equal(read(`${SCHEMA_VERSION}.sql`), schema, 'Run npm run tables.')
})

test('a released schema never changes', () => {
  for (const [version, hash] of Object.entries(JSON.parse(read('released.json')))) {
    assert.equal(
      createHash('sha256')
        .update(read(`${version}.sql`))
        .digest('hex'),
      hash,
      `schema ${version}`,
    )
  }
})

for (const version of versions) {
  test(`a database of schema version ${version} migrates to the current schema and keeps its rows`, (t) => {
    const folder = temporaryFolder(t)
    const options = { backupDir: path.join(folder, 'backups'), now: NOW }
    const file = path.join(folder, 'old.db')
    const old = new Database(file)
    old.exec(read(`${version}.sql`))
    old.pragma(`application_id = ${APPLICATION_ID}`)
    old.pragma(`user_version = ${version}`)
    const rows = `${version}-rows.sql`
    if (existsSync(path.join(SCHEMAS, rows))) old.exec(read(rows))
    const before = rowsOf(old)
    old.close()
    const [migrated, created] = [openDatabase(file, options), openDatabase(path.join(folder, 'new.db'), options)]
    t.after(() => [migrated, created].map((each) => each.close()))
    assert.deepEqual(schemaOf(migrated), schemaOf(created))
    assert.equal(migrated.pragma('user_version', { simple: true }), SCHEMA_VERSION)
    assert.deepEqual(rowsOf(migrated), before)
  })
}

/** Counts the rows of each table of the first schema. */
function rowsOf(sqlite: Sqlite): Record<string, unknown> {
  const tables = ['company', 'issue', 'label', 'issue_label']
  return Object.fromEntries(
    tables.map((table) => [table, sqlite.prepare(`select count(*) from ${table}`).pluck().get()]),
  )
}
