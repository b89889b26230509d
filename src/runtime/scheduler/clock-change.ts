import { heartbeatOf } from '../../organization/agent/runtime-config.ts'
import { listTimersAfter, setTimerDue, shiftTimers } from '../../organization/agent/timer.ts'
import { boundWakes, shiftWakes } from '../../organization/wake/queries.ts'
import type { Context } from '../../platform/context.ts'
import { boundRoutines } from '../../work/routine/stage.ts'
import { LONGEST_WAIT_MS } from '../executor/backoff.ts'

/**
 * Shifts all waits after the clock was set back. Otherwise nothing would start
 * for that long. The holds of providers shift too: a hold that ends too early
 * costs one refused run.
 *
 * @param ms how far the clock was set back, in milliseconds
 */
export function shiftWaits(ctx: Context, ms: number): void {
  const by = { now: ctx.now, ms }
  shiftTimers(ctx.db, by)
  shiftWakes(ctx.db, by)
  boundRoutines(ctx)
}

/**
 * Bounds all waits at the start of the server, which cannot know whether the
 * clock was set back before: a timer to its interval, a retry to its longest
 * wait.
 */
export function boundWaits(ctx: Context): void {
  for (const agent of listTimersAfter(ctx.db, ctx)) {
    const latest = later(ctx, heartbeatOf(agent).intervalSec * 1_000)
    if (agent.timer_due_at! > latest) setTimerDue(ctx.db, { agentId: agent.id, at: latest })
  }
  boundWakes(ctx.db, { latest: later(ctx, LONGEST_WAIT_MS) })
  boundRoutines(ctx)
}

const later = (ctx: Context, ms: number) => new Date(Date.parse(ctx.now) + ms).toISOString()
