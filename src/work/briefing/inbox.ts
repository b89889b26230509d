import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Db } from '../../platform/database/db.ts'
import { each, prepared, raw, sql } from '../../platform/database/sql.ts'
import { APPROVAL_TYPES } from '../approval/approval.ts'
import { Issue, IssueReference, type IssueRow, type Relations, toReference } from '../issue/issue.ts'
import { hasNoOpenBlocker } from '../issue/queries.ts'

/** An undecided approval, in the summary of its issue. */
export const OpenApproval = v.strictObject({
  id: field.id,
  type: v.picklist(APPROVAL_TYPES),
  status: v.picklist(['pending', 'revision_requested']),
})
type OpenApproval = v.InferOutput<typeof OpenApproval>

/** An issue in an agent's inbox, with the fields that the agent needs to choose one. */
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
    v.description("The agent's live run on the issue."),
  ),
  approvals: v.pipe(v.array(OpenApproval), v.description('The undecided approvals that are linked to the issue.')),
  waitingFor: v.pipe(
    v.array(IssueReference),
    v.description('Its open blockers. While there is one, an agent cannot check the issue out.'),
  ),
})

interface InboxRow extends IssueRow {
  run_id: string | null
}

/** Blocked issues are in the inbox only if they name blockers: for others, no event shows when work can continue. */
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
    .where((eb) => eb.or([eb('status', '<>', 'blocked'), hasBlocker]))
    .orderBy((eb) => eb.and([eb('status', '<>', 'in_progress'), eb.not(hasNoOpenBlocker)]))
    .orderBy(raw`case status when 'in_progress' then 0 when 'todo' then 1 when 'in_review' then 2 else 3 end`)
    .orderBy('priority_rank')
    .orderBy('issue.id', 'desc')
    .limit(of.limit),
)

/** Lists the open issues of an agent in the order of work. Issues with open blockers come last. */
export const listInbox = (db: Db, of: { agentId: string; limit: number }): InboxRow[] => db.all(inbox(of))

export const toInboxItem = (
  row: InboxRow,
  approvals: OpenApproval[],
  blockers: Relations['blockedBy'],
): v.InferOutput<typeof InboxItem> => ({
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
  approvals,
  waitingFor: blockers.map(toReference),
})

const openApprovals = prepared((of: { ids: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('approval_issue')
    .crossJoin('approval')
    .select(['approval_issue.issue_id as of', 'approval.id', 'approval.type', 'approval.status'])
    .whereRef('approval_issue.issue_id', '=', 'wanted.value')
    .whereRef('approval.id', '=', 'approval_issue.approval_id')
    .where('approval.status', 'in', ['pending', 'revision_requested'])
    .orderBy('approval.id')
    .$narrowType<{ status: OpenApproval['status'] }>(),
)

/** Returns the undecided approvals of issues, by issue, with one query. */
export function findOpenApprovals(
  db: Db,
  issues: readonly Pick<IssueRow, 'id'>[],
): (issueId: string) => OpenApproval[] {
  const rows = db.all(openApprovals({ ids: JSON.stringify(issues.map((issue) => issue.id)) }))
  const byIssue = Map.groupBy(rows, (row) => row.of)
  return (issueId) => (byIssue.get(issueId) ?? []).map(({ id, type, status }) => ({ id, type, status }))
}
