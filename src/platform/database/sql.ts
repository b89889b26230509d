import {
  type Compilable,
  type CompiledQuery,
  Kysely,
  sql as raw,
  type SelectQueryBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Db } from './db.ts'
import type { Tables } from './tables.ts'

export { raw }

/**
 * Writes each parameter as `likely(?)`, which is the same value: no plan depends
 * on it. SQLite plans a query again after its parameters are cleared if the plan
 * compared one with an indexed column, or if it is a limit, and better-sqlite3
 * clears them after each call. Listing the agents of a company took 130
 * microseconds, and takes 5. A query that needs a partial index therefore
 * compares with `raw.lit` what the index compares with a constant.
 */
class QueryCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return 'likely(?)'
  }
}

/**
 * Builds and types queries but runs none. Kysely cannot run queries
 * synchronously, so `Db` runs them. A call of `query.execute()` throws.
 */
export const sql = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new QueryCompiler(),
    createDriver: () => {
      const refuse = async () => {
        throw new Error('Run queries with db.all, db.first or db.run. execute() is not supported.')
      }
      return {
        // `init` throws already: an error in a later step would leave Kysely's connection lock taken.
        init: refuse,
        acquireConnection: refuse,
        beginTransaction: refuse,
        commitTransaction: refuse,
        rollbackTransaction: refuse,
        releaseConnection: refuse,
        destroy: async () => {},
      }
    },
  },
})

/**
 * Returns the values of a JSON array as a table named `wanted`, which is a list
 * in a prepared query. Join it with `crossJoin`: SQLite keeps that order and
 * looks up the rows of the few values.
 */
export const each = (json: string) => raw<{ value: string }>`json_each(${json})`.as('wanted')

/** Returns constants as literals of a query. */
export const literals = <T>(values: readonly T[]) => values.map((value) => raw.lit(value))

/** Counts the rows that a query selects, without reading them. */
// biome-ignore lint/suspicious/noExplicitAny: the tables of the query do not matter here.
export const countRows = (db: Db, rows: SelectQueryBuilder<any, any, unknown>): number =>
  db.first(sql.selectFrom(rows.as('counted')).select(({ fn }) => fn.countAll<number>().as('n')))!.n

/** Returns the value of a timestamp column minus some milliseconds. */
export const earlierBy = (column: string, ms: number) =>
  raw<string>`strftime('%Y-%m-%dT%H:%M:%fZ', ${raw.ref(column)}, ${`-${(ms / 1_000).toFixed(3)} seconds`})`

/** A placeholder in a prepared query for a value that each call provides. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each property of P is a Placeholder while the query is built.
const placeholders: any = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })

/**
 * Compiles a query once and inserts the values on each call. For the queries
 * that a busy server runs thousands of times per second: building one takes
 * about 15 microseconds, running it 4. The builder must use each value as a
 * value: it cannot branch on one, and a list (`in`) cannot be a placeholder;
 * see `each`.
 */
export function prepared<P extends object, O>(build: (values: P) => Compilable<O>): (values: P) => CompiledQuery<O> {
  let compiled: CompiledQuery<O> | undefined
  return (values) => {
    compiled ??= build(placeholders).compile()
    const fill = (value: unknown) =>
      value instanceof Placeholder ? (values as Record<string, unknown>)[value.name] : value
    const { query, queryId, sql, parameters } = compiled
    return { query, queryId, sql, parameters: parameters.map(fill) }
  }
}
