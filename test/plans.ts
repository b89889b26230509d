import type { CompiledQuery } from 'kysely'
import type { Context } from '../src/platform/context.ts'
import type { Db } from '../src/platform/database/db.ts'

/** How SQLite would go about each query that is asked: a line a step, such as `SEARCH issue USING INDEX ...`. */
export function plansOf(ctx: Context, ask: (db: Db) => void): string[] {
  const asked: CompiledQuery[] = []
  const note = (query: Parameters<Db['all']>[0]) => void asked.push('compile' in query ? query.compile() : query)
  ask({
    ...ctx.db,
    all(query) {
      note(query)
      return ctx.db.all(query)
    },
    first(query) {
      note(query)
      return ctx.db.first(query)
    },
  })
  return asked.flatMap((query) =>
    ctx.db
      .all({ ...query, sql: `explain query plan ${query.sql}` } as CompiledQuery<{ detail: string }>)
      .map((step) => step.detail),
  )
}
