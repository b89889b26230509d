import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'

/** Cancels the open approval of an agent's hire and returns it; undefined when there is none. */
export const cancelHireApproval = (db: Db, of: { agentId: string; at: string }) =>
  db.first(
    sql
      .updateTable('approval')
      .set({ status: 'cancelled', updated_at: of.at })
      .where('agent_id', '=', of.agentId)
      .where('type', '=', 'hire_agent')
      .where('status', 'in', ['pending', 'revision_requested'])
      .returning('id'),
  )

/**
 * Takes every open issue from an agent: work in progress goes back to `todo`,
 * other issues keep their status.
 *
 * @returns what each was and is, the most urgent first
 */
export function giveBackIssues(
  db: Db,
  of: { agentId: string; by: { type: 'agent' | 'user' | 'system'; id: string }; at: string },
) {
  const open = db.all(
    sql
      .selectFrom('issue')
      .select(['id', 'identifier', 'status'])
      .where('assignee_agent_id', '=', of.agentId)
      .where('status', 'not in', ['done', 'cancelled'])
      .orderBy('priority_rank')
      .orderBy('id'),
  )
  return open.map((issue) => {
    const to = issue.status === 'in_progress' ? 'todo' : issue.status
    db.run(
      sql
        .updateTable('issue')
        .set({
          status: to,
          assignee_agent_id: null,
          assigned_by_type: of.by.type,
          assigned_by_id: of.by.id,
          assigned_at: of.at,
          updated_at: of.at,
        })
        .where('id', '=', issue.id),
    )
    return { id: issue.id, identifier: issue.identifier, from: issue.status, to }
  })
}
