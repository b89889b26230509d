import type { CompiledQuery } from 'kysely'
import type { Db, Query } from '../platform/database/db.ts'

/** Counts the rows that `list` asks for, in any order and however many, without reading them. */
export function countRows(db: Db, list: (db: Db) => unknown): number {
  let count = 0
  list({
    ...db,
    all<O>(query: Query<O>): O[] {
      const compiled = 'compile' in query ? unordered(query).compile() : query
      const all = { ...compiled, sql: `select count(*) as n from (${compiled.sql})` } as CompiledQuery<{ n: number }>
      count += db.first(all)!.n
      return []
    },
  })
  return count
}

/** A query as it is built, without what only a page of it needs. */
function unordered<Built extends object>(query: Built): Built {
  const { clearOrderBy, clearLimit } = query as { clearOrderBy?(): Built; clearLimit?(): Built }
  const free = clearOrderBy ? clearOrderBy.call(query) : query
  return clearLimit ? (clearLimit.call(free) as Built) : free
}
