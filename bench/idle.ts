/**
 * Measures the CPU use of an idle server: `node bench/idle.ts [sizes]`. It has
 * 1,000 agents with timers of one hour. No timer is due during the measurement.
 * Prints the share of one core, and exits with 1 at 0.5 % or more.
 */
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { v7 as uuid } from 'uuid'
import { createDb } from '../src/platform/database/db.ts'
import { openDatabase } from '../src/platform/database/open.ts'
import { sql } from '../src/platform/database/sql.ts'
import { cpuSeconds, serve } from './process.ts'
import { measureAtSizes, SIZES } from './sizes.ts'

const AGENTS = 1_000
const GOAL_PERCENT = 0.5
/** The time for the work of the start, in milliseconds. */
const SETTLED_MS = 5_000

const SECONDS = 30

await measureAtSizes(process.argv[2] ?? SIZES, async (dataDir, { companyId, issueIds }) => {
  addAgents(dataDir, companyId)
  const server = await serve('service', dataDir)
  await delay(SETTLED_MS)
  const before = cpuSeconds(server.pid)
  await delay(SECONDS * 1_000)
  const percent = ((cpuSeconds(server.pid) - before) / SECONDS) * 100
  await server.stop()
  const met = percent < GOAL_PERCENT
  process.stdout.write(
    `${issueIds.length} issues, ${AGENTS} agents on timers of an hour: ${percent.toFixed(3)} % of a core over ${SECONDS} s, goal under ${GOAL_PERCENT} %  ${met ? 'met' : 'MISSED'}\n`,
  )
  if (!met) process.exitCode = 1
  return new Map()
})

/** Adds agents whose timers are due one after another in the hour after the measurement. */
function addAgents(dataDir: string, companyId: string): void {
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date() })
  const db = createDb(sqlite)
  const at = new Date().toISOString()
  const first = Date.now() + (SECONDS + 60) * 1_000
  const runtime_config = JSON.stringify({ heartbeat: { enabled: true, intervalSec: 3_600 } })
  sqlite.transaction(() => {
    for (let i = 0; i < AGENTS; i++) {
      const timer_due_at = new Date(first + i * 3_400).toISOString()
      const agent = { id: uuid(), company_id: companyId, name: `Agent ${i}`, url_key: `agent-${i}`, role: 'engineer' }
      db.run(
        sql.insertInto('agent').values({
          ...agent,
          adapter_type: 'process',
          runtime_config,
          timer_due_at,
          created_at: at,
          updated_at: at,
        }),
      )
    }
  })()
  sqlite.close()
}
