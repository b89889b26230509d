import type { Context } from '../context.ts'
import { resumeForNewMonth } from '../cost/new-month.ts'
import { claimRuns } from '../run/claim.ts'
import type { RunRow } from '../run/run.ts'
import { nextDue, stageTimers } from './stager.ts'

export interface Scheduler {
  /** One turn: stages what is due, claims what may run, and hands it to the executor. */
  tick(): Promise<void>
  /** Stops claiming; what runs goes on. */
  close(): void
}

/** What may let something run: a wake, a free slot, an agent or a company that changed. */
const NUDGES = /^(wake\.waiting|run\.finished|agent\.|company\.)/

/**
 * The longest sleep. Nothing is looked for in between; it is for a clock that
 * was set forward, or a laptop that slept, which a timer does not notice.
 */
const LONGEST_SLEEP_MS = 30_000

/** Sleeps until the next due moment or until something happens; never polls for work. */
export function createScheduler(ctx: Context, execute: (run: RunRow) => void): Scheduler {
  let timer: NodeJS.Timeout | undefined
  let isNudged = false
  let isClosed = false

  async function tick() {
    const claimed = await ctx.write(() => {
      if (isClosed) return []
      resumeForNewMonth(ctx)
      stageTimers(ctx)
      return claimRuns(ctx)
    })
    for (const run of claimed) execute(run)
    sleep()
  }

  function sleep() {
    clearTimeout(timer)
    if (isClosed) return
    const due = nextDue(ctx)
    const wait = due === undefined ? LONGEST_SLEEP_MS : Date.parse(due) - Date.parse(ctx.now)
    timer = setTimeout(turn, Math.max(0, Math.min(wait, LONGEST_SLEEP_MS)))
  }

  function turn() {
    isNudged = false
    tick().catch((error) => {
      ctx.log.error('A turn of the scheduler failed.', { error: String(error?.stack ?? error) })
      // A full disk mends itself, or not: either way the next turn comes.
      timer = setTimeout(turn, 1_000)
    })
  }

  const unsubscribe = ctx.events.subscribe((event) => {
    if (isNudged || isClosed || !NUDGES.test(event.type)) return
    isNudged = true
    setImmediate(turn)
  })

  return {
    tick,
    close() {
      isClosed = true
      clearTimeout(timer)
      unsubscribe()
    },
  }
}
