import * as v from 'valibot'
import type { Db } from '../database/db.ts'
import { prepared, raw, sql } from '../database/sql.ts'
import * as field from '../http/fields.ts'
import { Issue, type IssueRow } from './issue.ts'
import { hasNoOpenBlocker } from './queries.ts'

/** An issue as an agent's inbox shows it: enough to choose by. */
export const InboxItem = v.strictObject({
  id: field.id,
  identifier: v.string(),
  title: v.string(),
  status: Issue.entries.status,
  priority: Issue.entries.priority,
  parentId: v.nullable(field.id),
  projectId: v.nullable(field.id),
  goalId: v.nullable(field.id),
  startedAt: v.nullable(field.timestamp),
  updatedAt: field.timestamp,
  activeRun: v.pipe(
    v.nullable(v.strictObject({ id: field.id, agentId: field.id })),
    v.description("The agent's own run that works on it at this moment."),
  ),
})

interface InboxRow extends IssueRow {
  run_id: string | null
}

/** Blocked issues are in the inbox only where blockers are named: nothing tells when any other can go on. */
const hasBlocker = raw<boolean>`exists (select 1 from issue_blocker where issue_id = issue.id)`

const inbox = prepared((of: { agentId: string; limit: number }) =>
  sql
    .selectFrom('issue')
    .selectAll('issue')
    .select((eb) =>
      eb
        .selectFrom('run')
        .select('run.id')
        .whereRef('run.issue_id', '=', 'issue.id')
        .whereRef('run.agent_id', '=', 'issue.assignee_agent_id')
        .where('finished_at', 'is', null)
        .limit(1)
        .as('run_id'),
    )
    .where('assignee_agent_id', '=', of.agentId)
    .where('status', 'in', ['in_progress', 'todo', 'in_review', 'blocked'])
    .where((eb) => eb.or([eb('status', '=', 'in_progress'), hasNoOpenBlocker]))
    .where((eb) => eb.or([eb('status', '<>', 'blocked'), hasBlocker]))
    .orderBy(raw`case status when 'in_progress' then 0 when 'todo' then 1 when 'in_review' then 2 else 3 end`)
    .orderBy('priority_rank')
    .orderBy('issue.id', 'desc')
    .limit(of.limit),
)

/** What an agent has to do, in the order to do it. */
export const listInbox = (db: Db, of: { agentId: string; limit: number }): InboxRow[] => db.all(inbox(of))

export const toInboxItem = (row: InboxRow): v.InferOutput<typeof InboxItem> => ({
  id: row.id,
  identifier: row.identifier,
  title: row.title,
  status: row.status,
  priority: row.priority,
  parentId: row.parent_id,
  projectId: row.project_id,
  goalId: row.goal_id,
  startedAt: row.started_at,
  updatedAt: row.updated_at,
  activeRun: row.run_id === null ? null : { id: row.run_id, agentId: row.assignee_agent_id! },
})
