import type { CompiledQuery } from 'kysely'
import type { Context } from '../src/platform/context.ts'
import type { Db } from '../src/platform/database/db.ts'

/** Returns the query plan steps of each query that a function runs, such as `SEARCH issue USING INDEX ...`. */
export function plansOf(ctx: Context, request: (db: Db) => void): string[] {
  const queries: CompiledQuery[] = []
  const record = (query: Parameters<Db['all']>[0]) => void queries.push('compile' in query ? query.compile() : query)
  request({
    ...ctx.db,
    all(query) {
      record(query)
      return ctx.db.all(query)
    },
    first(query) {
      record(query)
      return ctx.db.first(query)
    },
  })
  return queries.flatMap((query) =>
    ctx.db
      .all({ ...query, sql: `explain query plan ${query.sql}` } as CompiledQuery<{ detail: string }>)
      .map((step) => step.detail),
  )
}
