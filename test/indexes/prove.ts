/**
 * Finds indexes that no query uses: `npm run prove:indexes`. Runs the tests,
 * records the SQL that the program prepares, and plans each statement. Writes a
 * statement for each index to statements.json, for the short form in the tests.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findUnused, openSchema, STATEMENTS_FILE, shortestUses } from './uses.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'service-indexes-'))
const record = path.join(folder, 'statements.jsonl')
try {
  writeFileSync(record, '')
  const { status } = spawnSync(process.execPath, ['test/run.mjs'], {
    stdio: 'inherit',
    env: { ...process.env, RECORDED_STATEMENTS: record },
  })
  if (status !== 0) process.stderr.write('Some tests failed, so their statements may be missing.\n')
  const statements = new Set(readFileSync(record, 'utf8').trimEnd().split('\n'))
  report([...statements].map((line) => JSON.parse(line)))
} finally {
  rmSync(folder, { recursive: true })
}

function report(statements: readonly string[]) {
  const sqlite = openSchema()
  const uses = shortestUses(sqlite, statements)
  writeFileSync(STATEMENTS_FILE, `${JSON.stringify(uses, null, 2)}\n`)
  process.stdout.write(`${statements.length} statements use ${Object.keys(uses).length} indexes.\n`)
  const unused = findUnused(sqlite, new Set(Object.keys(uses)))
  for (const name of unused) process.stdout.write(`No query uses ${name}, and no rule or foreign key needs it.\n`)
  process.exitCode = unused.length > 0 ? 1 : 0
}
