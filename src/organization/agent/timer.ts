import type { Db } from '../../platform/database/db.ts'
import { earlierBy, prepared, raw, sql } from '../../platform/database/sql.ts'
import { isCompanyRunning } from '../company/running.ts'
import { type AgentStatus, isReady } from './lifecycle.ts'
import { heartbeatOf } from './runtime-config.ts'

/**
 * Lists the agents whose timer is due, in companies that may run. `has_news` is
 * whether an issue of the agent needs work, or changed since its last run.
 */
export const listDueAgents = (db: Db, at: { now: string }) => db.all(dueAgents(at))

const dueAgents = prepared((at: { now: string }) =>
  sql
    .selectFrom('agent')
    .innerJoin('company', 'company.id', 'agent.company_id')
    .selectAll('agent')
    .where(isCompanyRunning)
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('issue')
          .select('id')
          .whereRef('assignee_agent_id', '=', 'agent.id')
          .where(({ eb, or }) =>
            or([
              eb('issue.status', 'in', ['todo', 'in_progress']),
              eb('issue.updated_at', '>', raw<string>`coalesce(agent.last_heartbeat_at, '')`),
            ]),
          ),
      ).as('has_news'),
    )
    .where('timer_due_at', '<=', at.now)
    .orderBy('timer_due_at'),
)

const earliestTimer = sql
  .selectFrom('agent')
  .innerJoin('company', 'company.id', 'agent.company_id')
  .select('timer_due_at')
  .where(isCompanyRunning)
  .where('timer_due_at', 'is not', null)
  .orderBy('timer_due_at')
  .limit(1)
  .compile()

/** Returns when the next timer is due, in companies that may run. Other timers skip their ticks. */
export const findEarliestTimer = (db: Db): string | undefined => db.first(earliestTimer)?.timer_due_at ?? undefined

const timerDue = prepared((of: { agentId: string; at: string | null }) =>
  sql.updateTable('agent').set({ timer_due_at: of.at }).where('id', '=', of.agentId),
)

export const setTimerDue = (db: Db, of: { agentId: string; at: string | null }) => db.run(timerDue(of))

const heartbeat = prepared((of: { agentId: string; at: string }) =>
  sql.updateTable('agent').set({ last_heartbeat_at: of.at }).where('id', '=', of.agentId),
)

/** Shifts future timers and holds back by some milliseconds. */
export function shiftTimers(db: Db, by: { now: string; ms: number }): void {
  for (const column of ['timer_due_at', 'held_until'] as const) {
    db.run(
      sql
        .updateTable('agent')
        .set({ [column]: earlierBy(column, by.ms) })
        .where(column, '>', by.now),
    )
  }
}

/** Lists the agents whose timer is due after a time. */
export const listTimersAfter = (db: Db, at: { now: string }) =>
  db.all(sql.selectFrom('agent').select(['id', 'timer_due_at', 'runtime_config']).where('timer_due_at', '>', at.now))

/** Records the start of a run as the agent's latest heartbeat. */
export const recordHeartbeat = (db: Db, of: { agentId: string; at: string }) => db.run(heartbeat(of))

const nextHold = prepared((at: { now: string }) =>
  sql.selectFrom('agent').select('held_until').where('held_until', '>', at.now).orderBy('held_until').limit(1),
)

/** Returns when the next hold of an agent ends. */
export const nextHoldEnd = (db: Db, at: { now: string }): string | undefined =>
  db.first(nextHold(at))?.held_until ?? undefined

/**
 * Returns when the timer wakes an agent next, counted from `now`. Null if its
 * timer is off, it may not work, or no person has approved its configuration.
 */
export function firstTimerDue(
  agent: { status: AgentStatus; runtime_config: string; config_approved: number },
  now: string,
): string | null {
  const { enabled, intervalSec } = heartbeatOf(agent)
  if (!enabled || !isReady(agent.status) || agent.config_approved === 0) return null
  return new Date(Date.parse(now) + intervalSec * 1_000).toISOString()
}

/**
 * Returns when a due timer wakes its agent again: at its first interval after
 * `now`. The timer keeps its phase, and intervals that were missed are skipped.
 */
export function followingTimerDue(agent: { timer_due_at: string | null; runtime_config: string }, now: string): string {
  const due = Date.parse(agent.timer_due_at!)
  const intervalMs = heartbeatOf(agent).intervalSec * 1_000
  const missed = Math.floor((Date.parse(now) - due) / intervalMs)
  return new Date(due + (missed + 1) * intervalMs).toISOString()
}
