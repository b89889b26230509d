/** A preload of each test process: appends the SQL that the program prepares to the file `RECORDED_STATEMENTS`, as JSON lines. */
import { appendFileSync } from 'node:fs'
import Database from 'better-sqlite3'

const recorded = new Set<string>()
const { prepare } = Database.prototype
Error.stackTraceLimit = 30

Database.prototype.prepare = function (this: Database.Database, sql: string) {
  if (!recorded.has(sql) && isCalledByProgram(String(new Error().stack))) {
    recorded.add(sql)
    appendFileSync(process.env.RECORDED_STATEMENTS!, `${JSON.stringify(sql)}\n`)
  }
  return prepare.call(this, sql)
} as typeof prepare

/** Whether the caller of the database layer is a file of src/. Tests also run queries of their own. */
function isCalledByProgram(stack: string): boolean {
  const files = stack.split('\n').filter((line) => /\/(src|test)\//.test(line) && !line.includes(import.meta.filename))
  return files.find((line) => !line.includes('/src/platform/database/'))?.includes('/src/') ?? false
}
