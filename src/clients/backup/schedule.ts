import { spawn } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Config } from '../../platform/config.ts'
import type { Log } from '../../platform/log.ts'
import { argvOf } from '../../platform/programs.ts'

/** Returns the default folder of backups. */
export const backupFolder = (dataDir: string) => path.join(dataDir, 'backups')

/** Returns the name of a backup that a person or script creates. The server never deletes it. */
export const backupName = (now: Date) => `service-${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z.tar.gz`

/** Returns the name of the scheduled backup of a day (UTC), which the server deletes when it expires. */
export const dailyName = (now: Date) => `daily-${now.toISOString().slice(0, 10)}.tar.gz`

const DAILY = /^daily-(\d{4}-\d{2}-\d{2})\.tar\.gz$/

/**
 * Returns the expired scheduled backups. It keeps the newest `keepDaily`, and of
 * each of the `keepWeekly` weeks before those (Monday to Sunday, UTC) the newest.
 *
 * @param names the file names in the folder of backups; other files are ignored
 */
export function expiredBackups(
  names: readonly string[],
  { keepDaily, keepWeekly }: { keepDaily: number; keepWeekly: number },
): string[] {
  const newestFirst = names
    .filter((name) => DAILY.test(name))
    .toSorted()
    .toReversed()
  const older = newestFirst.slice(keepDaily)
  const newestOfWeek = new Map<number, string>()
  for (const name of older) {
    const week = weekOf(DAILY.exec(name)![1]!)
    if (!newestOfWeek.has(week)) newestOfWeek.set(week, name)
  }
  const stored = new Set([...newestOfWeek.values()].slice(0, keepWeekly))
  return older.filter((name) => !stored.has(name))
}

/** Numbers the weeks. 1970-01-05 was the first Monday. */
const weekOf = (day: string) => Math.floor((Date.parse(day) / 86_400_000 - 4) / 7)

/** Deletes the expired scheduled backups. */
export function deleteExpired(folder: string, keep: { keepDaily: number; keepWeekly: number }): void {
  for (const name of expiredBackups(readdirSync(folder), keep)) rmSync(path.join(folder, name))
}

/** Finds the newest backup of any kind, and the time of its creation. Returns undefined if there is none. */
export function newestBackup(folder: string): { file: string; at: Date } | undefined {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return undefined
  }
  return names
    .filter((name) => name.endsWith('.tar.gz'))
    .map((name) => ({ file: path.join(folder, name), at: statSync(path.join(folder, name)).mtime }))
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())[0]
}

const HOUR_MS = 3_600_000
/** The delay of the first backup, in milliseconds, so that it does not slow the start down. */
const FIRST_CHECK_MS = 120_000

/**
 * Schedules the daily backup: two minutes after the start, and then at the
 * beginning of each day (UTC). A backup runs in a separate process with a low
 * priority, so it does not delay requests.
 *
 * @returns a function that ends the schedule
 */
export function scheduleBackups(config: Config, log: Log, isWorthIt: () => boolean): () => void {
  const { daily } = config.backups
  if (!daily) return () => {}
  let running: ReturnType<typeof spawn> | undefined
  const check = () => {
    const folder = backupFolder(config.dataDir)
    if (running || !isWorthIt() || statSync(path.join(folder, dailyName(new Date())), { throwIfNoEntry: false })) return
    const [program, main] = argvOf('main')
    const child = spawn(program, [main, 'backup', '--scheduled', '--data-dir', config.dataDir], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: config.environment,
    })
    running = child
    let printed = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-1_000)
    })
    const ended = (why?: string) => {
      if (running !== child) return
      running = undefined
      if (why !== undefined) log.error('The scheduled backup failed.', { why })
    }
    child.on('error', (error) => ended(error.message))
    child.on('exit', (code) => ended(code === 0 ? undefined : printed.trim() || `it ended with ${code}`))
    if (child.pid !== undefined) os.setPriority(child.pid, os.constants.priority.PRIORITY_LOW)
  }
  const first = setTimeout(check, FIRST_CHECK_MS).unref()
  const later = setInterval(check, HOUR_MS).unref()
  return () => {
    clearTimeout(first)
    clearInterval(later)
    running?.kill()
    running = undefined
  }
}
