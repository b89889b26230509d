import type { Database as Sqlite, Statement } from 'better-sqlite3'
import type { Compilable, CompiledQuery } from 'kysely'
import { isDatabaseFault } from './write-queue.ts'

/** A query that Kysely built, or one of `prepared`. */
export type Query<O> = Compilable<O> | CompiledQuery<O>

/** Runs queries synchronously. Statements are prepared once. */
export interface Db {
  all<O>(query: Query<O>): O[]
  first<O>(query: Query<O>): O | undefined
  /** Runs a query for its effect and returns the number of changed rows. */
  run(query: Query<unknown>): number
  /** Inserts a row and returns its rowid. Takes half of the time of an insert with `returning`. */
  insert(query: Query<unknown>): number
  /** Identifies what reads see at this moment. It differs after each change, of this connection or of another. */
  version(): string
  /** Ends the snapshot that the reads of this turn of the event loop share, so that a write can begin. */
  endReads(): void
}

/** The maximum number of cached statements. The oldest is removed first. */
const KEPT_STATEMENTS = 500

export function createDb(sqlite: Sqlite): Db {
  const statements = new Map<string, Statement<unknown[]>>()

  function statementFor(text: string): Statement<unknown[]> {
    const stored = statements.get(text)
    if (stored) return stored
    const statement = sqlite.prepare<unknown[]>(text)
    if (statements.size >= KEPT_STATEMENTS) statements.delete(statements.keys().next().value!)
    statements.set(text, statement)
    return statement
  }

  const compile = <O>(query: Query<O>) => ('compile' in query ? query.compile() : query)

  const begin = sqlite.prepare('begin')
  const commit = sqlite.prepare('commit')
  const ownChanges = sqlite.prepare('select total_changes()').pluck()
  const otherChanges = sqlite.prepare('pragma data_version').pluck()
  let isReading = false

  /**
   * Begins a snapshot for the reads of one turn of the event loop. A read
   * without one locks and unlocks the file, which takes half of its time.
   */
  function read() {
    if (isReading || sqlite.inTransaction) return
    begin.run()
    isReading = true
    setImmediate(endReads)
  }

  function endReads() {
    try {
      if (isReading && sqlite.open) commit.run()
    } catch (error) {
      // A failed read may have ended the transaction, which contained no write.
      if (!isDatabaseFault(error)) throw error
      if (sqlite.inTransaction) sqlite.exec('rollback')
    } finally {
      isReading = false
    }
  }

  return {
    endReads,
    version() {
      read()
      return `${ownChanges.get()} ${otherChanges.get()}`
    },
    all<O>(query: Query<O>) {
      read()
      const { sql, parameters } = compile(query)
      return statementFor(sql).all(...parameters) as O[]
    },
    first<O>(query: Query<O>) {
      read()
      const { sql, parameters } = compile(query)
      return statementFor(sql).get(...parameters) as O | undefined
    },
    run(query) {
      if (isReading) endReads()
      const { sql, parameters } = compile(query)
      const statement = statementFor(sql)
      // A statement that returns rows completes only if all() steps through every row.
      return statement.reader ? statement.all(...parameters).length : statement.run(...parameters).changes
    },
    insert(query) {
      if (isReading) endReads()
      const { sql, parameters } = compile(query)
      return Number(statementFor(sql).run(...parameters).lastInsertRowid)
    },
  }
}
