import type { Database as Sqlite } from 'better-sqlite3'

/** Lists what a database consists of. The way its SQL is written does not matter. */
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
