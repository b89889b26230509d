import type { Context } from '../../platform/context.ts'
import { isDatabaseFault } from '../../platform/database/write-queue.ts'
import { removeClosedWorktrees } from '../worktree/retention.ts'
import { deleteOldLogs, measureLogs } from './run-logs.ts'
import { deleteEndedRuns } from './runs.ts'
import { deleteUnusedUploads } from './uploads.ts'
import { deleteOldWakes } from './wakes.ts'

/** The numbers of deleted items in one pass. */
export interface Deleted {
  runLogs: number
  runs: number
  wakes: number
  uploads: number
  worktrees: number
}

/** The job that deletes old data. */
export interface RetentionJob {
  /** Starts the passes: the first after five minutes, then one each hour. */
  start(): void
  /** Deletes the data that is older than the settings allow. A failed step is logged, and the next pass repeats it. */
  pass(): Promise<Deleted>
  /** Stops the passes, and waits for the current step. */
  close(): Promise<void>
}

/** In milliseconds. The server first rescues runs, and makes the scheduled backup after two minutes. */
const FIRST_PASS_MS = 5 * 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/**
 * Deletes old run logs, runs, wakes, uploads and worktrees in small steps, so
 * that requests are not delayed. The write that changes rows records their
 * files, and only then are the files removed: a crash in between loses nothing,
 * because the next start removes them.
 */
export function createRetention(ctx: Context): RetentionJob {
  const stopping = new AbortController()
  const { signal } = stopping
  let timer: NodeJS.Timeout | undefined
  let running: Promise<Deleted> | undefined

  async function attempt(step: string, run: () => Promise<number>): Promise<number> {
    if (signal.aborted) return 0
    try {
      return await run()
    } catch (error) {
      const isFault = isDatabaseFault(error) || (error as NodeJS.ErrnoException).code !== undefined
      const detail = isFault ? String(error) : String((error as Error)?.stack ?? error)
      if (!signal.aborted) ctx.log.error('A step of the retention failed.', { step, error: detail })
      return 0
    }
  }

  async function pass(): Promise<Deleted> {
    const { runLogDays, runLogBytes, runDays, wakeDays, uploadDays, worktreeDays } = ctx.config.retention
    const now = Date.parse(ctx.now)
    const before = (days: number) => new Date(now - days * DAY_MS).toISOString()
    const since = (days: number, run: (before: string) => Promise<number>) => () =>
      days === 0 ? Promise.resolve(0) : run(before(days))
    await attempt('measure run logs', () => measureLogs(ctx, signal))
    const deleted = {
      runLogs: await attempt('run logs', () =>
        deleteOldLogs(ctx, { before: runLogDays === 0 ? null : before(runLogDays), maxBytes: runLogBytes }, signal),
      ),
      runs: await attempt(
        'runs',
        since(runDays, (time) => deleteEndedRuns(ctx, time, signal)),
      ),
      wakes: await attempt(
        'wakes',
        since(wakeDays, (time) => deleteOldWakes(ctx, time, signal)),
      ),
      uploads: await attempt(
        'uploads',
        since(uploadDays, (time) => deleteUnusedUploads(ctx, time, signal)),
      ),
      worktrees: await attempt(
        'worktrees',
        since(worktreeDays, async (closedBefore) => {
          const { removed, kept: stored } = await removeClosedWorktrees(ctx, { closedBefore, signal })
          if (stored.length > 0) ctx.log.info('Worktrees with uncommitted changes are kept.', { issueIds: stored })
          return removed
        }),
      ),
    }
    if (Object.values(deleted).some((n) => n > 0)) ctx.log.info('Old data was deleted.', deleted)
    return deleted
  }

  const retention: RetentionJob = {
    start() {
      const turn = async () => {
        await retention.pass()
        if (!signal.aborted) timer = setTimeout(turn, HOUR_MS).unref()
      }
      timer = setTimeout(turn, FIRST_PASS_MS).unref()
    },
    pass() {
      running ??= pass().finally(() => {
        running = undefined
      })
      return running
    },
    async close() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
  return retention
}
