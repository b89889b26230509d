import type { Db } from '../database/db.ts'
import { prepared, raw, sql } from '../database/sql.ts'

/**
 * The agents whose timer has come, with whether anything concerns them: an
 * issue of theirs to work on, or one that changed since their last run.
 */
export const listDueAgents = (db: Db, at: { now: string }) => db.all(dueAgents(at))

const dueAgents = prepared((at: { now: string }) =>
  sql
    .selectFrom('agent')
    .selectAll()
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

const nextTimer = sql
  .selectFrom('agent')
  .select('timer_due_at')
  .where('timer_due_at', 'is not', null)
  .orderBy('timer_due_at')
  .limit(1)
  .compile()

/** When the next timer comes due. */
export const nextTimerDue = (db: Db): string | undefined => db.first(nextTimer)?.timer_due_at ?? undefined

export const setTimerDue = (db: Db, of: { agentId: string; at: string | null }) =>
  db.run(sql.updateTable('agent').set({ timer_due_at: of.at }).where('id', '=', of.agentId))

/** Notes that an agent is being run. */
export const noteHeartbeat = (db: Db, of: { agentId: string; at: string }) =>
  db.run(sql.updateTable('agent').set({ last_heartbeat_at: of.at }).where('id', '=', of.agentId))
