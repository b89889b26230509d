import { recordActivity } from '../activity/record.ts'
import { heartbeatOf } from '../agent/runtime-config.ts'
import { listDueAgents, nextTimerDue, setTimerDue } from '../agent/timer.ts'
import type { Context } from '../context.ts'
import { nextMonth } from '../cost/new-month.ts'
import { SYSTEM } from '../http/caller.ts'
import { findNextNotBefore } from '../run/queries.ts'
import { requestWake } from '../run/wake.ts'

/**
 * Turns the timers whose moment has come into wakes, in the caller's
 * transaction. However many ticks an agent missed while the machine slept or
 * the server was down, they are one wake, and its timer keeps its phase, so
 * that agents do not all come due together from then on.
 */
export function stageTimers(ctx: Context): void {
  for (const agent of listDueAgents(ctx.db, { now: ctx.now })) {
    const { intervalSec, skipIfIdle } = heartbeatOf(agent)
    const missed = Math.floor((Date.parse(ctx.now) - Date.parse(agent.timer_due_at!)) / (intervalSec * 1_000))
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
    requestWake(ctx, SYSTEM, { agentId: agent.id, source: 'timer' })
  }
}

/** When the scheduler next has something to do by itself: a timer, a wake that had to wait, a new month's budget. */
export function nextDue(ctx: Context): string | undefined {
  const moments = [nextTimerDue(ctx.db), findNextNotBefore(ctx.db, { now: ctx.now }), nextMonth(ctx)]
  return moments.filter((at) => at !== undefined).sort()[0]
}
