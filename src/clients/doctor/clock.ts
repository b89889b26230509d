import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import { duration } from '../cli/command/output.ts'
import type { Check, Finding } from './check.ts'
import { readDatabase } from './read-database.ts'

/** A smaller difference is no problem: waits and timeouts are longer. */
const TOLERANCE_MS = 60_000

/** systemd-timesyncd creates the file when it has set the clock. */
const TIMESYNC = '/run/systemd/timesync'

/**
 * Checks the clock without the network: against the latest activity, against
 * the times of the files (another machine sets them in a network file system),
 * and whether systemd has synchronized it.
 */
export const clockCheck: Check = {
  id: 'clock',
  title: 'Clock',
  run({ dataDir }) {
    const now = Date.now()
    const findings = [
      ahead(now, readDatabase(dataDir, latestActivity), 'The latest activity'),
      ahead(now, latestFile(dataDir), 'The newest file of the data directory'),
      existsSync(TIMESYNC) && !existsSync(path.join(TIMESYNC, 'synchronized')) ? NOT_SYNCHRONIZED : undefined,
    ].filter((finding) => finding !== undefined)
    return findings.length > 0 ? findings : [{ status: 'ok', message: new Date(now).toISOString() }]
  },
}

const NOT_SYNCHRONIZED: Finding = {
  status: 'warning',
  message: 'systemd has not synchronized the clock since the start of the machine.',
  hint: 'See timedatectl status. Budgets, timers and tokens depend on the clock.',
}

function ahead(now: number, at: number | undefined, what: string): Finding | undefined {
  const ms = (at ?? 0) - now
  if (ms <= TOLERANCE_MS) return undefined
  return {
    status: 'warning',
    message: `${what} is ${duration(ms)} in the future: the clock was set back, or it is slow.`,
    hint: 'Correct the clock of this machine. A running server shifts its waits with the clock.',
    details: { aheadMs: ms },
  }
}

function latestActivity(db: Db): number | undefined {
  const latest = db.first(sql.selectFrom('activity').select('created_at').orderBy('seq', 'desc').limit(1))
  return latest && Date.parse(latest.created_at)
}

function latestFile(dataDir: string): number | undefined {
  if (!existsSync(dataDir)) return undefined
  return Math.max(
    0,
    ...readdirSync(dataDir).map((name) => statSync(path.join(dataDir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0),
  )
}
