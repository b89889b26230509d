import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import Database, { type Database as Sqlite } from 'better-sqlite3'
import { migrate, refuseForeign, SCHEMA_VERSION, WrongDatabase } from '../../../src/platform/database/migrate.ts'
import { openDatabase } from '../../../src/platform/database/open.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { generateTables } from '../../../tools/generate-tables.ts'
import { temporaryFolder } from '../../helpers.ts'
import { schemaOf } from './schema-of.ts'
import { STEPS } from './steps.ts'

const NOW = new Date('2026-11-21T09:00:00.000Z')

const EXPECTED = {
  busy_timeout: 5_000,
  journal_mode: 'wal',
  synchronous: 2,
  foreign_keys: 1,
  trusted_schema: 0,
  temp_store: 2,
  journal_size_limit: 64 * 1024 * 1024,
  mmap_size: 0,
  wal_autocheckpoint: 12_000,
}

test('an open connection has every setting', (t) => {
  const folder = temporaryFolder(t)
  const sqlite = openDatabase(path.join(folder, 'service.db'), { backupDir: folder, now: NOW })
  t.after(() => sqlite.close())
  for (const [name, value] of Object.entries(EXPECTED)) assert.equal(sqlite.pragma(name, { simple: true }), value, name)
})

test('opening a database again does not change it', (t) => {
  const folder = temporaryFolder(t)
  const options = { backupDir: path.join(folder, 'backups'), now: NOW }
  const file = path.join(folder, 'service.db')
  openDatabase(file, options).close()
  const before = readFileSync(file)
  openDatabase(file, options).close()
  assert.deepEqual(readFileSync(file), before)
  assert.deepEqual(readdirSync(folder), ['service.db'])
})

const FOREIGN: { name: string; make: (sqlite: Sqlite) => void; says: RegExp }[] = [
  {
    name: 'of a newer version',
    make: (sqlite) => {
      migrate(sqlite, { file: '', backupDir: '', now: NOW })
      sqlite.pragma(`user_version = ${SCHEMA_VERSION + 1}`)
    },
    says: /newer version.*Upgrade/,
  },
  { name: 'of another program', make: (sqlite) => sqlite.exec('create table theirs (n)'), says: /another program/ },
  {
    name: 'of another program with the same user_version',
    make: (sqlite) => {
      sqlite.exec('create table theirs (n)')
      sqlite.pragma(`user_version = ${SCHEMA_VERSION}`)
    },
    says: /another program/,
  },
]

for (const { name, make, says: message } of FOREIGN) {
  for (const mode of ['delete', 'wal']) {
    test(`a file ${name} (journal: ${mode}) is refused and is not changed`, (t) => {
      const folder = temporaryFolder(t)
      const file = path.join(folder, 'service.db')
      const theirs = new Database(file)
      theirs.pragma(`journal_mode = ${mode}`)
      make(theirs)
      theirs.close()
      const before = readFileSync(file)
      const refusal = (error: Error) => error instanceof WrongDatabase && message.test(error.message)
      assert.throws(() => openDatabase(file, { backupDir: path.join(folder, 'backups'), now: NOW }), refusal)
      assert.deepEqual(readFileSync(file), before)
      assert.deepEqual(readdirSync(folder), ['service.db'])
    })
  }
}

test('a file that is not a database is refused and is not changed', (t) => {
  const folder = temporaryFolder(t)
  const file = path.join(folder, 'service.db')
  writeFileSync(file, 'a letter to somebody'.repeat(1_000))
  assert.throws(() => openDatabase(file, { backupDir: folder, now: NOW }), WrongDatabase)
  assert.equal(readFileSync(file, 'utf8'), 'a letter to somebody'.repeat(1_000))
})

test('a database with a zeroed header is refused, and the error says what to do', (t) => {
  const folder = temporaryFolder(t)
  const file = path.join(folder, 'service.db')
  const options = { backupDir: folder, now: NOW }
  openDatabase(file, options).close()
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0, 0, 100))
  assert.throws(() => openDatabase(file, options), /header is damaged.*service restore FILE/)
  assert.deepEqual(readFileSync(file), bytes)
})

/** Creates a database of version 1 with a label that an issue references. */
function oldDatabase(folder: string) {
  const file = path.join(folder, 'service.db')
  const sqlite = openDatabase(file, { backupDir: folder, now: NOW })
  sqlite.exec(`insert into company (id, name, issue_prefix, created_at, updated_at) values ('c', 'Acme', 'ACM', '', '');
    insert into issue (id, company_id, issue_number, identifier, title, status, created_at, updated_at) values ('i', 'c', 1, 'ACM-1', 'x', 'todo', '', '');
    insert into label (id, company_id, name, color, created_at, updated_at) values ('l', 'c', 'bug', '#aa0000', '', '');
    insert into issue_label values ('i', 'l')`)
  return { sqlite, file, options: { file, backupDir: path.join(folder, 'backups'), now: NOW } }
}

test('an older database is backed up, then migrated step by step, and keeps its rows', (t) => {
  const { sqlite, options } = oldDatabase(temporaryFolder(t))
  t.after(() => sqlite.close())
  migrate(sqlite, options, STEPS)
  assert.equal(sqlite.pragma('user_version', { simple: true }), 3)
  assert.equal(sqlite.pragma('foreign_keys', { simple: true }), 1)
  assert.deepEqual(sqlite.prepare('select id, icon from label').all(), [{ id: 'l', icon: null }])
  assert.equal(sqlite.prepare('select count(*) from issue_label').pluck().get(), 1)
  const [name] = readdirSync(options.backupDir)
  const backup = new Database(path.join(options.backupDir, name!), { readonly: true })
  assert.equal(backup.pragma('user_version', { simple: true }), 1)
  assert.equal(backup.prepare('select name from label').pluck().get(), 'bug')
  backup.close()
  migrate(sqlite, options, STEPS)
  const copies = readdirSync(options.backupDir).filter((each) => each.endsWith('.db'))
  assert.equal(copies.length, 1, 'what is up to date is not copied again')
})

test('a partly migrated database runs only the missing migrations', (t) => {
  const { sqlite, options } = oldDatabase(temporaryFolder(t))
  t.after(() => sqlite.close())
  migrate(sqlite, options, STEPS.slice(0, 1))
  migrate(sqlite, { ...options, now: new Date(0) }, STEPS)
  assert.equal(sqlite.pragma('user_version', { simple: true }), 3)
})

for (const [name, step] of [
  ['fails', 'alter table nothing add column x'],
  ['breaks references', 'delete from label'],
] as const) {
  test(`a migration that ${name} changes nothing`, (t) => {
    const { sqlite, options } = oldDatabase(temporaryFolder(t))
    t.after(() => sqlite.close())
    const before = schemaOf(sqlite)
    assert.throws(() => migrate(sqlite, options, [STEPS[0]!, { summary: name, sql: step }]))
    assert.equal(sqlite.pragma('user_version', { simple: true }), 1)
    assert.deepEqual(schemaOf(sqlite), before)
    assert.equal(sqlite.prepare('select count(*) from label').pluck().get(), 1)
  })
}

test('a database version is refused if it is newer than the known migrations', (t) => {
  const { sqlite, options, file } = oldDatabase(temporaryFolder(t))
  t.after(() => sqlite.close())
  migrate(sqlite, options, STEPS)
  refuseForeign(sqlite, file, STEPS)
  assert.throws(() => refuseForeign(sqlite, file, STEPS.slice(0, 1)), WrongDatabase)
})

test('tables.ts is the output of tools/generate-tables.ts', () => {
  assert.equal(readFileSync(path.join(packageRoot(), 'src/platform/database/tables.ts'), 'utf8'), generateTables())
})

test('every table is strict, and every column with a fixed set of values has a check constraint', (t) => {
  const folder = temporaryFolder(t)
  const sqlite = openDatabase(path.join(folder, 'service.db'), { backupDir: folder, now: NOW })
  t.after(() => sqlite.close())
  const tables = sqlite.pragma('table_list') as { name: string; strict: number; type: string }[]
  const own = tables.filter(({ name, type }) => type === 'table' && !name.startsWith('sqlite_'))
  assert.ok(own.length > 20)
  for (const { name, strict } of own) assert.equal(strict, 1, name)
  const sqlOf = sqlite.prepare<[string], string>('select sql from sqlite_master where name = ?').pluck()
  const enums = /^(status|type|kind|level|priority|source|.*_type|.*_reason|cost_status|mode)$/
  const free = new Set([
    'agent.error_reason',
    'asset.content_type',
    'wake.dropped_reason',
    'agent.adapter_type',
    'run.adapter_type',
    'agent_session.adapter_type',
    'run_total.adapter_type',
    'company_run_total.adapter_type',
    'activity.entity_type',
    'idempotency.status',
    'wake.priority',
  ])
  for (const { name } of own) {
    for (const column of sqlite.pragma(`table_info(${name})`) as { name: string }[]) {
      if (!enums.test(column.name) || free.has(`${name}.${column.name}`)) continue
      assert.match(sqlOf.get(name)!, new RegExp(`check \\(${column.name} (in \\(|= ')`), `${name}.${column.name}`)
    }
  }
})

test('with the umask of the server, only the owner may access a new file', (t) => {
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  const folder = temporaryFolder(t)
  const sqlite = openDatabase(path.join(folder, 'service.db'), { backupDir: folder, now: NOW })
  t.after(() => sqlite.close())
  for (const name of readdirSync(folder)) assert.equal(statSync(path.join(folder, name)).mode & 0o777, 0o600, name)
})
