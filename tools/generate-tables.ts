/**
 * Writes src/platform/database/tables.ts, the table types for Kysely, from
 * schema.sql, and the copy of schema.sql that later versions are tested with
 * (test/fixtures/schemas). Run `npm run tables` after a change of the schema; a
 * test fails if you forgot it.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { SCHEMA_VERSION } from '../src/platform/database/migrate.ts'
import { packageRoot } from '../src/platform/package-root.ts'

interface Column {
  name: string
  type: string
  notnull: 0 | 1
  dflt_value: string | null
  pk: number
  hidden: number
}

export function generateTables(): string {
  const sqlite = new Database(':memory:')
  sqlite.exec(readFileSync(path.join(packageRoot(), 'schema.sql'), 'utf8'))
  const tables = sqlite
    .prepare<[], { name: string; sql: string }>(
      "select name, sql from sqlite_master where type = 'table' and sql like '%) strict%' order by rowid",
    )
    .all()
  const interfaces = tables.map(({ name, sql }) => {
    const columns = sqlite.pragma(`table_xinfo(${name})`) as Column[]
    return `export interface ${typeName(name)} {\n${columns.map((column) => member(column.name, typeOf(column, sql))).join('\n')}\n}\n`
  })
  sqlite.close()
  return `// Written by tools/generate-tables.ts from schema.sql: change that, then \`npm run tables\`.
import type { Generated, GeneratedAlways } from 'kysely'

${interfaces.join('\n')}
export interface Tables {
${tables.map(({ name }) => `  ${name}: ${typeName(name)}`).join('\n')}
  issue_text: { rowid: number; issue_text: string }
  comment_text: { rowid: number; comment_text: string }
  issue_word: { term: string }
  comment_word: { term: string }
}
`
}

/** Formats a member. A long union has a line for each type, like the formatter's output. */
function member(name: string, type: string): string {
  const line = `  ${name}: ${type}`
  return line.length <= 120 ? line : `  ${name}:\n    | ${type.replaceAll(' | ', '\n    | ')}`
}

const typeName = (table: string) =>
  `${table
    .split('_')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')}Table`

const TYPES: Record<string, string> = { INTEGER: 'number', BLOB: 'Uint8Array' }

/** Returns the type of a column. For `check (x in (...))` and `check (x = '...' or ...)` it is the union of the values. */
function typeOf(column: Column, createTable: string): string {
  const check = new RegExp(`check \\(${column.name} (?:in \\(|= ')[^)]*`).exec(createTable)?.[0]
  const base = check?.match(/'\w+'|\b\d+\b/g)?.join(' | ') ?? TYPES[column.type] ?? 'string'
  const type = column.notnull || column.pk ? base : `${base} | null`
  if (column.hidden) return `GeneratedAlways<${type}>`
  const isRowid = column.pk === 1 && column.type === 'INTEGER'
  return column.dflt_value !== null || isRowid ? `Generated<${type}>` : type
}

if (import.meta.main) {
  writeFileSync(path.join(packageRoot(), 'src/platform/database/tables.ts'), generateTables())
  copyFileSync(
    path.join(packageRoot(), 'schema.sql'),
    path.join(packageRoot(), `test/fixtures/schemas/${SCHEMA_VERSION}.sql`),
  )
}
