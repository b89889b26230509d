import type { Database as Sqlite } from 'better-sqlite3'

/** Lists the schema objects of a database, with normalized SQL. */
export function schemaOf(sqlite: Sqlite) {
  const rows = sqlite
    .prepare<[], { type: string; name: string; sql: string | null }>(
      'select type, name, sql from sqlite_master order by type, name',
    )
    .all()
  return rows.map(({ type, name, sql }) => ({
    type,
    name,
    sql: sql?.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' '),
  }))
}
