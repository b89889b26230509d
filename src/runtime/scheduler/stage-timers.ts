import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import { heartbeatOf } from '../../organization/agent/runtime-config.ts'
import {
  findEarliestTimer,
  followingTimerDue,
  listDueAgents,
  nextHoldEnd,
  setTimerDue,
} from '../../organization/agent/timer.ts'
import { nextMonth } from '../../organization/budget/new-month.ts'
import { findFreeze } from '../../organization/instance/queries.ts'
import { findNextNotBefore } from '../../organization/wake/queries.ts'
import type { Context } from '../../platform/context.ts'
import { nextRoutineDue } from '../../work/routine/queries.ts'
import { LONGEST_WAIT_MS } from '../executor/backoff.ts'

/** A timer that is later than this, in milliseconds, was missed: the machine was suspended or the server was down. */
const MISSED_MS = 60_000

/** The distance between the wakes of missed timers, in milliseconds. */
const SPREAD_MS = 2_000

/**
 * Turns due timers into wakes, in the current transaction. All intervals that
 * an agent has missed become one wake, and its timer keeps its phase. The wakes
 * of several missed timers are spread, which avoids starting all runs at once.
 */
export function stageTimers(ctx: Context): void {
  if (findFreeze(ctx.db)) return
  let late = 0
  for (const agent of listDueAgents(ctx.db, { now: ctx.now })) {
    const { intervalSec, skipIfIdle } = heartbeatOf(agent)
    const lateMs = Date.parse(ctx.now) - Date.parse(agent.timer_due_at!)
    setTimerDue(ctx.db, { agentId: agent.id, at: followingTimerDue(agent, ctx.now) })
    if (skipIfIdle && !agent.has_news) {
      recordActivity(ctx, SYSTEM, {
        companyId: agent.company_id,
        action: 'agent.heartbeat_skipped',
        entity: { type: 'agent', id: agent.id },
        agentId: agent.id,
        details: { reason: 'Nothing relevant to the agent changed since its last run (skipIfIdle).' },
      })
      continue
    }
    const waitMs = lateMs > MISSED_MS ? Math.min(late++ * SPREAD_MS, intervalSec * 1_000, LONGEST_WAIT_MS) : 0
    const notBefore = waitMs > 0 ? new Date(Date.parse(ctx.now) + waitMs).toISOString() : null
    requestWake(ctx, SYSTEM, { agentId: agent.id, source: 'timer', notBefore })
  }
}

/** Returns the time of the scheduler's next work: a timer, a routine, a delayed wake, the end of a hold, or a new month's budget. */
export function nextWorkDue(ctx: Context): string | undefined {
  const routine = nextRoutineDue(ctx.db)
  // A thaw is an event, so a freeze needs no timer. Routines still record the times that they miss.
  if (findFreeze(ctx.db)) return routine
  const at = { now: ctx.now }
  const moments = [
    routine,
    findEarliestTimer(ctx.db),
    findNextNotBefore(ctx.db, at),
    nextHoldEnd(ctx.db, at),
    nextMonth(ctx),
  ]
  return moments.filter((moment) => moment !== undefined).sort()[0]
}
