import { readFileSync } from 'node:fs'
import path from 'node:path'
import Database, { type Database as Sqlite } from 'better-sqlite3'
import { packageRoot } from '../../src/platform/package-root.ts'

/** For each index that queries use, one SQL statement of the program whose plan contains it. Written by `npm run prove:indexes`. */
export const STATEMENTS_FILE = path.join(import.meta.dirname, 'statements.json')

interface Index {
  /** The name, or that of the primary key or unique constraint that SQLite made. */
  name: string
  table: string
  columns: string[]
  isUnique: boolean
  /** Whether schema.sql creates it by name. */
  isNamed: boolean
  /** Whether it contains every row whose first column has a value. */
  isWhole: boolean
}

export function openSchema(): Sqlite {
  const sqlite = new Database(':memory:')
  sqlite.exec(readFileSync(path.join(packageRoot(), 'schema.sql'), 'utf8'))
  return sqlite
}

function listIndexes(sqlite: Sqlite): Index[] {
  const rows = sqlite
    .prepare<[], { name: string; table: string; isUnique: number; origin: string; condition: string | null }>(
      `select i.name, t.name as "table", i."unique" as isUnique, i.origin,
         iif(i.partial, substr(s.sql, instr(s.sql, ' where ') + 7), null) as condition
       from sqlite_schema t, pragma_index_list(t.name) i join sqlite_schema s on s.name = i.name
       where t.type = 'table' order by i.name`,
    )
    .all()
  const columns = sqlite.prepare<[string], string>('select name from pragma_index_info(?) order by seqno').pluck()
  return rows.map(({ name, table, isUnique, origin, condition }) => {
    const ownColumns = columns.all(name)
    const isWhole = condition === null || condition === `${ownColumns[0]} is not null`
    return { name, table, columns: ownColumns, isUnique: isUnique === 1, isNamed: origin === 'c', isWhole }
  })
}

/** Returns the names of the indexes of schema.sql in the plan of a statement. */
export function indexesOf(sqlite: Sqlite, statement: string): string[] {
  const parameters = statement.match(/\?/g)?.map(() => null) ?? []
  const steps = sqlite.prepare<null[], { detail: string }>(`explain query plan ${statement}`).all(...parameters)
  return steps.flatMap(({ detail }) => /USING (?:COVERING )?INDEX (?!sqlite_)(\w+)/.exec(detail)?.[1] ?? [])
}

/** Returns the shortest of some statements for each index that one of them uses. */
export function shortestUses(sqlite: Sqlite, statements: Iterable<string>): Record<string, string> {
  const uses: Record<string, string> = {}
  for (const statement of [...statements].toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    try {
      for (const index of indexesOf(sqlite, statement)) uses[index] ??= statement
    } catch {
      // A statement about another database: a copy with an older schema, or the sessions of a program.
    }
  }
  return Object.fromEntries(Object.entries(uses).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns the indexes that nothing needs. A unique index is a rule. An index that
 * begins with the column of a foreign key finds the rows of a deleted parent; if
 * another one does that too, it is not needed for it.
 *
 * @param used the indexes that queries use
 */
export function findUnused(sqlite: Sqlite, used: ReadonlySet<string>): string[] {
  const keys = sqlite.prepare<[string], string>('select "from" from pragma_foreign_key_list(?)').pluck()
  const indexes = listIndexes(sqlite)
  const needed = indexes.filter(({ name, isUnique }) => isUnique || used.has(name))
  for (const index of indexes) {
    const [column = ''] = index.columns
    if (needed.includes(index) || !index.isWhole || !keys.all(index.table).includes(column)) continue
    const isFound = needed.some(
      ({ table, columns, isWhole }) => table === index.table && columns[0] === column && isWhole,
    )
    if (!isFound) needed.push(index)
  }
  return indexes.filter((index) => index.isNamed && !needed.includes(index)).map(({ name }) => name)
}
