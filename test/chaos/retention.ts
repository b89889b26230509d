/**
 * Proves that the retention does not block requests: `npm run prove:retention [-- 100000]`.
 *
 * Fills a database with ended runs, their wakes, activity and logs, and lets
 * one pass of the retention delete the expired ones, a twentieth. Measures the CPU time of the main
 * thread in each turn of its event loop, which is how long another request
 * waits on a machine with a free core. Exits 1 at 50 ms.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Database } from 'better-sqlite3'
import { v7 as uuid } from 'uuid'
import { seed } from '../../bench/seed.ts'
import { readConfig } from '../../src/platform/config.ts'
import { createContext } from '../../src/platform/context.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createLog } from '../../src/platform/log.ts'
import { createVault } from '../../src/platform/vault.ts'
import { runFolder } from '../../src/runtime/process/run-files.ts'
import { createRetention, type Deleted } from '../../src/runtime/retention/retention.ts'

export interface RetentionReport {
  deleted: Deleted
  seconds: number
  /** The CPU time of the main thread in one turn of the event loop, in milliseconds. */
  turnMs: { p99: number; most: number }
}

/** One of this many expired runs has a folder that is not yet measured. */
const WITH_FOLDER = 20
/** One of this many runs made a change, and is not deleted. */
const WITH_WORK = 10

const DAY_MS = 86_400_000
/** One of this many runs is expired. */
const EXPIRED = 20

export async function proveRetention(runs: number): Promise<RetentionReport> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-retention-'))
  const { companyId } = seed(dataDir, 100)
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date() })
  const retention = { runLogDays: 30, runLogBytes: 1e12, runDays: 30, wakeDays: 30, uploadDays: 30, worktreeDays: 30 }
  const config = { ...readConfig({ dataDir, port: '0' }, {}), retention }
  const vault = createVault(randomBytes(32))
  const ctx = createContext({
    sqlite,
    config,
    vault,
    clock: { now: () => new Date() },
    log: createLog(() => {}),
  })
  try {
    insertRuns(sqlite, companyId, runs, (id) => {
      const folder = path.join(runFolder(config, id), 'log')
      mkdirSync(folder, { recursive: true })
      writeFileSync(path.join(folder, 'head'), 'x'.repeat(2_000))
    })
    // The checkpoint of rows that the pass did not write is not part of the measurement.
    sqlite.pragma('wal_checkpoint(truncate)')
    const job = createRetention(ctx)
    const turns = measureTurns()
    const began = performance.now()
    const deleted = await job.pass()
    const seconds = (performance.now() - began) / 1_000
    const sorted = turns.end().sort((a, b) => a - b)
    await job.close()
    const turnMs = { p99: sorted[Math.floor(sorted.length * 0.99)]!, most: sorted.at(-1)! }
    return { deleted, seconds, turnMs }
  } finally {
    await ctx.reader.close()
    sqlite.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Measures the CPU time of this thread in each turn of the event loop, in milliseconds. */
function measureTurns(): { end(): number[] } {
  const turns: number[] = []
  const cpu = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let before = cpu()
  let next: NodeJS.Immediate
  const look = () => {
    const now = cpu()
    turns.push(now - before)
    before = now
    next = setImmediate(look)
  }
  next = setImmediate(look)
  return {
    end() {
      clearImmediate(next)
      return turns
    },
  }
}

/** Inserts the expired runs, and runs that ended within the last 25 days. */
function insertRuns(sqlite: Database, companyId: string, runs: number, makeFolder: (id: string) => void): void {
  const agentId = sqlite.prepare('select id from agent').pluck().get() as string
  const insert = (table: string, names: string) =>
    sqlite.prepare(`insert into ${table} (${names}) values (${names.replace(/\w+/g, '@$&')})`)
  const addWake = insert('wake', 'id, company_id, agent_id, status, reasons, created_at, updated_at')
  const addRun = insert(
    'run',
    'id, company_id, agent_id, wake_id, status, source, reasons, adapter_type, idle, log_bytes, created_at, started_at, finished_at',
  )
  const addActivity = insert(
    'activity',
    'id, company_id, actor_type, actor_id, action, entity_type, entity_id, agent_id, run_id, created_at, previous_hash, hash',
  )
  const begin = Date.now() - 25 * DAY_MS
  sqlite.transaction(() => {
    for (let n = 0; n < runs; n++) {
      const at = new Date(begin + (n / runs) * 25 * DAY_MS - (n < runs / EXPIRED ? 50 * DAY_MS : 0)).toISOString()
      const hasFolder = n < runs / EXPIRED && n % WITH_FOLDER === 0
      const [id, wake_id] = [uuid(), uuid()]
      const common = { company_id: companyId, agent_id: agentId, created_at: at, updated_at: at, reasons: '[]' }
      addWake.run({ ...common, id: wake_id, status: 'claimed' })
      const run = { ...common, id, wake_id, status: 'succeeded', source: 'timer', adapter_type: 'process', idle: 1 }
      addRun.run({ ...run, log_bytes: hasFolder ? null : 2_000, started_at: at, finished_at: at })
      const entry = { ...common, actor_type: 'system', actor_id: 'system', run_id: id, previous_hash: '', hash: '' }
      for (const action of ['run.started', 'run.finished'])
        addActivity.run({ ...entry, id: uuid(), action, entity_type: 'run', entity_id: id })
      if (n % WITH_WORK === 0)
        addActivity.run({ ...entry, id: uuid(), action: 'comment.created', entity_type: 'issue', entity_id: agentId })
      if (hasFolder) makeFolder(id)
    }
  })()
}

export const LIMIT_MS = 50

if (import.meta.main) {
  const [runs = 100_000] = process.argv.slice(2).map(Number)
  const { deleted, seconds, turnMs } = await proveRetention(runs)
  process.stdout.write(
    `${runs} runs: ${JSON.stringify(deleted)} deleted in ${seconds.toFixed(1)} s; CPU time of a turn ${turnMs.p99.toFixed(1)} ms at the 99th percentile, at most ${turnMs.most.toFixed(1)} ms\n`,
  )
  process.exitCode = turnMs.most < LIMIT_MS ? 0 : 1
}
