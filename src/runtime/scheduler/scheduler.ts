import { resumeForNewMonth } from '../../organization/budget/new-month.ts'
import type { Context } from '../../platform/context.ts'
import { stageRoutines } from '../../work/routine/stage.ts'
import type { Executor } from '../executor/executor.ts'
import { claimRuns } from './claim.ts'
import { boundWaits, followClockBack } from './clock-change.ts'
import { nextDue, stageTimers } from './stager.ts'

export interface Scheduler {
  /** Ticks from here on by itself: at once, when something is due, and when something happens. */
  start(): Promise<void>
  /** One turn: stages what is due, claims what may run, and hands it to the executor. */
  tick(): Promise<void>
  /** Stops claiming; what runs goes on. */
  close(): void
}

/** The live events after which a run may be able to start. Wakes and ended runs come as a signal. */
const NUDGES = /^(agent|company|routine)\./

/**
 * The longest sleep. Nothing is looked for in between; it is for a clock that
 * was set forward, or a laptop that slept, which a timer does not notice.
 */
const LONGEST_SLEEP_MS = 30_000

const AFTER_FAILURE_MS = 1_000

/** Less than that is how clocks are kept right, in milliseconds. */
const SET_BACK_MS = 1_000

/** Makes a scheduler, which ticks by hand until it is started. Started, it sleeps until it is due; it never polls for work. */
export function createScheduler(ctx: Context, executor: Pick<Executor, 'execute' | 'reconcile'>): Scheduler {
  let timer: NodeJS.Timeout | undefined
  let isNudged = false
  let isClosed = false
  let unsubscribe = () => {}
  let latest: string | undefined

  /** Timers know nothing of the clock: that it went back shows only here. */
  function followClock() {
    if (latest === undefined) boundWaits(ctx)
    const { now } = ctx
    const ms = latest === undefined ? 0 : Date.parse(latest) - Date.parse(now)
    const isSetBack = ms >= SET_BACK_MS
    if (isSetBack) followClockBack(ctx, ms)
    ctx.afterCommit(() => {
      latest = now
      const seconds = Math.round(ms / 1_000)
      if (isSetBack) ctx.log.warn('The clock was set back. Waiting times are shifted with it.', { seconds })
    })
  }

  async function tick() {
    if (isClosed) return
    executor.reconcile()
    await ctx.write(() => {
      if (isClosed) return
      followClock()
      resumeForNewMonth(ctx)
      stageTimers(ctx)
      stageRoutines(ctx)
      const claimed = claimRuns(ctx)
      // In the turn of the commit: no other tick sees these runs without a follower.
      ctx.afterCommit(() => {
        for (const run of claimed) executor.execute(run)
      })
    })
  }

  async function turn() {
    // A nudge comes a moment later, and the database may be closed by then.
    if (isClosed) return
    isNudged = false
    let wait: number
    try {
      await tick()
      if (isClosed) return
      const due = nextDue(ctx)
      wait = due === undefined ? LONGEST_SLEEP_MS : Math.min(Date.parse(due) - Date.parse(ctx.now), LONGEST_SLEEP_MS)
    } catch (error) {
      // A disk that is full now need not be later: the next turn comes either way.
      ctx.log.error('A turn of the scheduler failed.', { error: String((error as Error)?.stack ?? error) })
      wait = AFTER_FAILURE_MS
    }
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(turn, Math.max(0, wait))
  }

  return {
    tick,
    start() {
      const nudge = () => {
        if (isNudged || isClosed) return
        isNudged = true
        setImmediate(turn)
      }
      const removeListener = ctx.events.subscribe((event) => {
        if (NUDGES.test(event.type)) nudge()
      })
      const removeHandler = ctx.signals.handle({ wakeQueued: nudge })
      unsubscribe = () => {
        removeListener()
        removeHandler()
      }
      return turn()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      unsubscribe()
    },
  }
}
