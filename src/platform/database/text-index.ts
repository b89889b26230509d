import type { Database as Sqlite } from 'better-sqlite3'

/** The tables with full-text search, and the columns that are searched. */
const TEXTS = [
  { table: 'issue', columns: 'title, identifier, description' },
  { table: 'comment', columns: 'body' },
] as const

/** The number of texts that one step indexes, in about 10 ms. */
const TEXTS_OF_A_STEP = 500

export interface TextIndexer {
  /** Indexes the new and changed texts of the transaction. Call it before the commit. */
  indexAll(): void
  /** Does the same in steps. */
  inSteps(): Generator<void, void>
}

/**
 * Creates the function that adds texts to the full-text index. The triggers of
 * schema.sql only list new and changed texts: FTS5 writes the rows of one
 * statement together, which takes a third of the time of one by one. Their
 * rowids (-seq, schema.sql) must ascend: FTS5 writes at once what it has when
 * one is lower than the last.
 */
export function createTextIndexer(sqlite: Sqlite): TextIndexer {
  const tables = TEXTS.map(({ table, columns }) => {
    const step = `select seq from ${table}_text_pending order by seq desc limit ${TEXTS_OF_A_STEP}`
    const from = `(${step}) cross join ${table} using (seq)`
    return {
      isPending: sqlite.prepare(`select exists (select 1 from ${table}_text_pending)`).pluck(),
      add: sqlite.prepare(`insert into ${table}_text (rowid, ${columns}) select -seq, ${columns} from ${from}`),
      remove: sqlite.prepare(`delete from ${table}_text_pending where seq in (${step})`),
    }
  })
  function* inSteps() {
    for (const { isPending, add, remove } of tables) {
      while (isPending.get() === 1) {
        add.run()
        remove.run()
        yield
      }
    }
  }
  return {
    inSteps,
    indexAll() {
      const steps = inSteps()
      while (!steps.next().done);
    },
  }
}
