/** A preload of a server and its threads: appends each SQL statement that runs to the file `BENCH_RECORD`, as JSON lines. */
import { appendFileSync } from 'node:fs'
import Database, { type Statement } from 'better-sqlite3'

const prepare = Database.prototype.prepare
Database.prototype.prepare = function (this: Database.Database, sql: string) {
  const statement: Statement = prepare.call(this, sql)
  for (const how of ['all', 'get', 'run'] as const) {
    const original = statement[how].bind(statement)
    statement[how] = ((...parameters: unknown[]) => {
      appendFileSync(process.env.BENCH_RECORD!, `${JSON.stringify({ sql, how, parameters })}\n`)
      return original(...parameters)
    }) as never
  }
  return statement
} as typeof prepare
