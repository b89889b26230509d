import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import { notFound, unknownReference } from '../../platform/errors.ts'
import type { IssueRow } from '../issue/issue.ts'
import { getReferredIssue } from '../issue/references.ts'
import type { ApprovalRow } from './approval.ts'
import { findApproval, insertApprovalLink } from './queries.ts'

/** Links issues that a field of the body names to an approval. Existing links remain. */
export function linkIssues(ctx: Context, approval: ApprovalRow, field: string, refs: readonly string[]): void {
  for (const ref of refs) {
    const issue = getReferredIssue(ctx, approval.company_id, field, ref)
    insertApprovalLink(ctx.db, { approvalId: approval.id, issueId: issue.id })
  }
}

/** Links an approval to an issue. Linking it again is a no-op. */
export function linkApproval(ctx: Context, caller: Caller, issue: IssueRow, approvalId: string): ApprovalRow {
  const approval = findApproval(ctx.db, { id: approvalId })
  if (approval?.company_id !== issue.company_id) throw unknownReference('approvalId', 'approval')
  if (insertApprovalLink(ctx.db, { approvalId: approval.id, issueId: issue.id }) > 0)
    record(ctx, caller, 'issue.approval_linked', issue, approval.id)
  return approval
}

/**
 * Removes the link of an approval and an issue.
 *
 * @throws AppError 404 if there is none
 */
export function unlinkApproval(ctx: Context, caller: Caller, issue: IssueRow, approvalId: string): void {
  const removed = ctx.db.run(
    sql.deleteFrom('approval_issue').where('approval_id', '=', approvalId).where('issue_id', '=', issue.id),
  )
  if (removed === 0) throw notFound('approval', approvalId, 'This issue')
  record(ctx, caller, 'issue.approval_unlinked', issue, approvalId)
}

/** Lists the issues of an approval, oldest first. */
export const listLinkedIssues = (db: Db, of: { approvalId: string }) =>
  db.all(
    sql
      .selectFrom('approval_issue')
      .innerJoin('issue', 'issue.id', 'approval_issue.issue_id')
      .select(['issue.id', 'identifier', 'title', 'status', 'priority', 'assignee_agent_id as assigneeAgentId'])
      .where('approval_id', '=', of.approvalId)
      .orderBy('issue.id'),
  )

/** Lists the approvals of an issue, oldest first. */
export const listApprovalsOfIssue = (db: Db, of: { issueId: string }): ApprovalRow[] =>
  db.all(
    sql
      .selectFrom('approval_issue')
      .innerJoin('approval', 'approval.id', 'approval_issue.approval_id')
      .selectAll('approval')
      .where('issue_id', '=', of.issueId)
      .orderBy('approval.id'),
  )

const record = (ctx: Context, caller: Caller, action: Action, issue: IssueRow, approvalId: string) =>
  recordActivity(ctx, caller, {
    companyId: issue.company_id,
    action,
    entity: { type: 'issue', id: issue.id },
    details: { approvalId },
  })
