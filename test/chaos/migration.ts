/**
 * Kills migrations: `npm run prove:migration [-- kills=200 issues=20000]`. A
 * process migrates a copy of a database by two steps that write every issue,
 * and gets SIGKILL at a random moment. The file must then be intact and have the
 * old or the new schema with all rows, and each copy in the folder of
 * the backups must be intact. The next start must finish the migration. Prints
 * the measurements, and exits with 1 if a guarantee is broken.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { seed } from '../../bench/seed.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import type { Migration } from '../../src/platform/database/migrations.ts'
import { configure } from '../../src/platform/database/open.ts'
import { STEPS } from '../platform/database/steps.ts'

const ALL_STEPS: readonly Migration[] = [
  ...STEPS,
  { summary: 'Write each issue.', sql: "update issue set description = description || ' (migrated)'" },
]

export interface MigrationReport {
  kills: number
  /** The number of kills that left the old schema. */
  old: number
  /** Files that were neither old nor new, damaged, or without some of their rows. */
  broken: number
  /** Damaged copies in the folder of the backups. */
  brokenCopies: number
  /** Starts after a kill that did not finish the migration. */
  unfinished: number
}

export async function killMigrations(kills: number, issues: number): Promise<MigrationReport> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-migration-'))
  const original = path.join(folder, 'original')
  const report: MigrationReport = { kills, old: 0, broken: 0, brokenCopies: 0, unfinished: 0 }
  try {
    cpSync(makeOriginal(path.join(folder, 'seed'), issues), original)
    const longestMs = await timeOf(path.join(folder, 'timed'), original)
    for (let i = 0; i < kills; i++) {
      const dataDir = path.join(folder, String(i))
      await killOne(dataDir, original, Math.random() * longestMs)
      judge(dataDir, issues, report)
      rmSync(dataDir, { recursive: true })
    }
    return report
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function makeOriginal(dataDir: string, issues: number): string {
  mkdirSync(dataDir)
  seed(dataDir, issues)
  return path.join(dataDir, 'service.db')
}

/** Starts a migration. Its process prints a line before it begins and another one after its end. */
function startMigration(dataDir: string, original: string) {
  mkdirSync(dataDir)
  cpSync(original, path.join(dataDir, 'service.db'))
  const child = spawn(process.execPath, [import.meta.filename, 'migrate', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, begun: once(child.stdout, 'data'), exit: once(child, 'exit') }
}

async function timeOf(dataDir: string, original: string): Promise<number> {
  const { begun, exit } = startMigration(dataDir, original)
  await begun
  const at = performance.now()
  const [code] = await exit
  if (code !== 0) throw new Error(`A migration that nobody killed ended with ${code}.`)
  return performance.now() - at
}

async function killOne(dataDir: string, original: string, afterMs: number): Promise<void> {
  const { child, begun, exit } = startMigration(dataDir, original)
  await begun
  await delay(afterMs)
  child.kill('SIGKILL')
  await exit
}

function judge(dataDir: string, issues: number, report: MigrationReport): void {
  const found = look(path.join(dataDir, 'service.db'))
  if (found.version === 1) report.old++
  if (!isIntact(found, issues)) report.broken++
  for (const name of list(path.join(dataDir, 'backups')).filter((each) => each.endsWith('.db'))) {
    const copy = look(path.join(dataDir, 'backups', name))
    if (copy.version !== 1 || !isIntact(copy, issues)) report.brokenCopies++
  }
  runMigration(dataDir)
  const after = look(path.join(dataDir, 'service.db'))
  if (after.version !== NEW || !isIntact(after, issues)) report.unfinished++
}

const NEW = 1 + ALL_STEPS.length

interface Found {
  version: number
  check: string
  issues: number
  /** Returns whether labels have icons, and the number of migrated issues. */
  icons: boolean
  migrated: number
}

function isIntact({ version, check, issues, icons, migrated }: Found, expected: number): boolean {
  const isNew = version === NEW
  return (
    (isNew || version === 1) &&
    check === 'ok' &&
    issues === expected &&
    icons === isNew &&
    migrated === (isNew ? expected : 0)
  )
}

function look(file: string): Found {
  const sqlite = new Database(file)
  try {
    const get = (sql: string) => sqlite.prepare(sql).pluck().get()
    return {
      version: sqlite.pragma('user_version', { simple: true }) as number,
      check: sqlite.pragma('integrity_check', { simple: true }) as string,
      issues: get('select count(*) from issue') as number,
      icons: get("select count(*) from pragma_table_info('label') where name = 'icon'") === 1,
      migrated: get("select count(*) from issue where description like '% (migrated)'") as number,
    }
  } finally {
    sqlite.close()
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function runMigration(dataDir: string): void {
  const file = path.join(dataDir, 'service.db')
  const sqlite = new Database(file)
  configure(sqlite)
  migrate(sqlite, { file, backupDir: path.join(dataDir, 'backups'), now: new Date() }, ALL_STEPS)
  sqlite.close()
}

export const isGuaranteeKept = ({ broken, brokenCopies, unfinished }: MigrationReport) =>
  broken + brokenCopies + unfinished === 0

if (import.meta.main) {
  const [first, second] = process.argv.slice(2)
  if (first === 'migrate') {
    process.stdout.write('begun\n')
    runMigration(second!)
  } else {
    const report = await killMigrations(Number(first ?? 200), Number(second ?? 20_000))
    for (const [what, count] of Object.entries(report)) process.stdout.write(`${what.padEnd(16)}${count}\n`)
    process.exitCode = isGuaranteeKept(report) ? 0 : 1
  }
}
