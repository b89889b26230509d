import { resumeForNewMonth } from '../../organization/budget/new-month.ts'
import type { Context } from '../../platform/context.ts'
import { stageRoutines } from '../../work/routine/stage.ts'
import type { Executor } from '../executor/executor.ts'
import { claimRuns } from './claim.ts'
import { boundWaits, shiftWaits } from './clock-change.ts'
import { nextWorkDue, stageTimers } from './stage-timers.ts'

export interface Scheduler {
  /** Starts automatic ticks: immediately, when a timer is due, and after each event that may allow a run to start. */
  start(): Promise<void>
  /** Performs one tick: turns due timers into wakes, claims the wakes that may start, and executes their runs. */
  tick(): Promise<void>
  /** Stops claiming. Live runs continue. */
  close(): void
}

/** The live events after which a run may be able to start. Queued wakes and finished runs arrive as a signal. */
const TICK_EVENTS = /^(agent|company|routine)\./

/**
 * The longest sleep in milliseconds. The scheduler does not poll for work: the
 * limit is for a clock that was set forward and for a machine that was
 * suspended, which timers do not notice.
 */
const LONGEST_SLEEP_MS = 30_000

const AFTER_FAILURE_MS = 1_000

/** The smallest step back that counts as a clock change, in milliseconds. Time synchronization makes smaller steps. */
const SET_BACK_MS = 1_000

/** Creates a scheduler. Until `start`, it ticks only on call. After `start`, it sleeps until the next due time and never polls. */
export function createScheduler(ctx: Context, executor: Pick<Executor, 'execute' | 'reconcile'>): Scheduler {
  let timer: NodeJS.Timeout | undefined
  let isTurnRequested = false
  let isClosed = false
  let unsubscribe = () => {}
  let latest: string | undefined

  /** Detects that the clock was set back since the last tick. Node's timers do not show it. */
  function checkClock() {
    if (latest === undefined) boundWaits(ctx)
    const { now } = ctx
    const ms = latest === undefined ? 0 : Date.parse(latest) - Date.parse(now)
    const isSetBack = ms >= SET_BACK_MS
    if (isSetBack) shiftWaits(ctx, ms)
    ctx.afterCommit(() => {
      latest = now
      const seconds = Math.round(ms / 1_000)
      if (isSetBack) ctx.log.warn('The clock was set back. The server shifts all waits with it.', { seconds })
    })
  }

  async function tick() {
    if (isClosed) return
    executor.reconcile()
    await ctx.write(() => {
      if (isClosed) return
      checkClock()
      resumeForNewMonth(ctx)
      stageTimers(ctx)
      stageRoutines(ctx)
      const claimed = claimRuns(ctx)
      // In the same turn as the commit, so that no other tick adopts these runs.
      ctx.afterCommit(() => {
        for (const run of claimed) executor.execute(run)
      })
    })
  }

  async function turn() {
    // A requested turn starts later, and the database may be closed by then.
    if (isClosed) return
    isTurnRequested = false
    let wait: number
    try {
      await tick()
      if (isClosed) return
      const due = nextWorkDue(ctx)
      wait = due === undefined ? LONGEST_SLEEP_MS : Math.min(Date.parse(due) - Date.parse(ctx.now), LONGEST_SLEEP_MS)
    } catch (error) {
      // The cause may pass, such as a full disk, so the next turn is scheduled in any case.
      ctx.log.error('A tick of the scheduler failed. The server retries.', {
        error: String((error as Error)?.stack ?? error),
      })
      wait = AFTER_FAILURE_MS
    }
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(turn, Math.max(0, wait))
  }

  return {
    tick,
    start() {
      const requestTurn = () => {
        if (isTurnRequested || isClosed) return
        isTurnRequested = true
        setImmediate(turn)
      }
      const removeListener = ctx.events.subscribe((event) => {
        if (TICK_EVENTS.test(event.type)) requestTurn()
      })
      const removeHandler = ctx.signals.handle({ wakeQueued: requestTurn })
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
