import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { heartbeatOf } from '../../organization/agent/runtime-config.ts'
import { listDueAgents, nextHoldEnd, nextTimerDue, setTimerDue } from '../../organization/agent/timer.ts'
import { requestWake } from '../../organization/agent/wake.ts'
import { nextMonth } from '../../organization/budget/new-month.ts'
import { findFreeze } from '../../organization/instance/queries.ts'
import { findNextNotBefore } from '../../organization/wake/queries.ts'
import type { Context } from '../../platform/context.ts'
import { nextRoutineDue } from '../../work/routine/queries.ts'
import { LONGEST_WAIT_MS } from '../executor/backoff.ts'

/** A timer that is so late, in milliseconds, was missed: the machine slept, or there was no server. */
const MISSED_MS = 60_000

/** Those that missed their moment follow each other at this distance, in milliseconds. */
const SPREAD_MS = 2_000

/**
 * Turns the timers whose moment has come into wakes, in the caller's
 * transaction. However many ticks an agent missed while the machine slept or
 * nothing could run, they are one wake, and its timer keeps its phase. Agents
 * that missed theirs together are spread, so that no herd of them comes.
 */
export function stageTimers(ctx: Context): void {
  if (findFreeze(ctx.db)) return
  let late = 0
  for (const agent of listDueAgents(ctx.db, { now: ctx.now })) {
    const { intervalSec, skipIfIdle } = heartbeatOf(agent)
    const lateMs = Date.parse(ctx.now) - Date.parse(agent.timer_due_at!)
    const missed = Math.floor(lateMs / (intervalSec * 1_000))
    const next = new Date(Date.parse(agent.timer_due_at!) + (missed + 1) * intervalSec * 1_000)
    setTimerDue(ctx.db, { agentId: agent.id, at: next.toISOString() })
    if (skipIfIdle && !agent.has_news) {
      recordActivity(ctx, SYSTEM, {
        companyId: agent.company_id,
        action: 'agent.heartbeat_skipped',
        entity: { type: 'agent', id: agent.id },
        agentId: agent.id,
        details: { reason: 'Nothing that concerns it changed since its last run (skipIfIdle).' },
      })
      continue
    }
    const waitMs = lateMs > MISSED_MS ? Math.min(late++ * SPREAD_MS, intervalSec * 1_000, LONGEST_WAIT_MS) : 0
    const notBefore = waitMs > 0 ? new Date(Date.parse(ctx.now) + waitMs).toISOString() : null
    requestWake(ctx, SYSTEM, { agentId: agent.id, source: 'timer', notBefore })
  }
}

/** When the scheduler next has something to do by itself: a timer, a routine, a wake that had to wait, a new month's budget. */
export function nextDue(ctx: Context): string | undefined {
  const routine = nextRoutineDue(ctx.db)
  // What is frozen has nothing to wait for but a thaw, which is an event; a routine's moments pass, and are noted.
  if (findFreeze(ctx.db)) return routine
  const at = { now: ctx.now }
  const moments = [
    routine,
    nextTimerDue(ctx.db),
    findNextNotBefore(ctx.db, at),
    nextHoldEnd(ctx.db, at),
    nextMonth(ctx),
  ]
  return moments.filter((moment) => moment !== undefined).sort()[0]
}
