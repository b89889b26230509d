/**
 * Records the SQL statements of a scenario and runs them again on bare
 * better-sqlite3. `node bench/statements.ts <database> <record>` is the
 * second part: a separate process that prints its CPU time in microseconds.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { measure } from './load.ts'
import { serveFrom } from './process.ts'
import { requestOf, type Scenario } from './scenarios.ts'
import type { Seeded } from './seed.ts'

/** Few enough that each checkout finds a free issue. Only the statements of the second half count, when the first has warmed them up. */
const REQUESTS = 1_000

/** Returns the CPU time that the statements of one request take on bare better-sqlite3, in microseconds. */
export async function cpuOfStatements(scenario: Scenario, seeded: Seeded, dataDir: string): Promise<number> {
  const copy = path.join(dataDir, 'copy')
  const [database, record] = [path.join(copy, 'service.db'), path.join(copy, 'statements.jsonl')]
  const copyDatabase = () => copyFileSync(path.join(dataDir, 'service.db'), database)
  mkdirSync(copy)
  try {
    copyDatabase()
    const service = await serveFrom(import.meta.dirname, {
      args: ['service', copy],
      options: ['--import', path.join(import.meta.dirname, 'record.ts')],
      environment: { BENCH_RECORD: record },
    })
    // The statements of the start do not count.
    rmSync(record)
    // Checkouts start at the last issues, because the measurement uses the first ones.
    const from = seeded.issueIds.length - REQUESTS
    const request = (n: number) => requestOf(scenario, seeded, service.port, from + n)
    await measure(service.port, { clients: scenario.clients, requests: REQUESTS }, request)
    await service.stop()
    copyDatabase()
    const replayed = execFileSync(process.execPath, [import.meta.filename, database, record], { encoding: 'utf8' })
    return Number(replayed) / (REQUESTS / 2)
  } finally {
    rmSync(copy, { recursive: true })
  }
}

function replay(file: string, record: string): number {
  const sqlite = new Database(file)
  for (const pragma of ['journal_mode = wal', 'synchronous = full', 'cache_size = -8000']) sqlite.pragma(pragma)
  const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean)
  const calls = lines.map(
    (line) => JSON.parse(line) as { sql: string; how: 'all' | 'get' | 'run'; parameters: unknown[] },
  )
  const statements = new Map(calls.map(({ sql }) => [sql, sqlite.prepare(sql)]))
  const half = Math.floor(calls.length / 2)
  let before = process.cpuUsage()
  for (const [i, { sql, how, parameters }] of calls.entries()) {
    if (i === half) before = process.cpuUsage()
    // The record mixes the transactions of two connections, the server's and its reader's.
    if (sql.startsWith('begin') === sqlite.inTransaction && /^(begin|commit)/.test(sql)) continue
    statements.get(sql)?.[how](...parameters)
  }
  const { user, system } = process.cpuUsage(before)
  return user + system
}

if (import.meta.main) process.stdout.write(String(replay(process.argv[2]!, process.argv[3]!)))
