import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { IssueRow } from './issue.ts'

/**
 * The actions of the activity of issues, one row for each. All have
 * `entityType: "issue"` and the `identifier` in their details:
 * - `issue.created`: title, status, priority, assigneeAgentId, parentId
 * - `issue.updated`: changes, `{ field: { from, to } }` of each changed field
 * - `issue.checked_out`: from (the previous status), assigneeAgentId
 * - `issue.released`: from, assigneeAgentId or assigneeUserId (the previous
 * assignee), forced
 * - `issue.reopened`: from, completedAt, cancelledAt (which the issue itself
 * does not keep)
 * - `issue.commented`: commentId, snippet, mentionedAgentIds, mentionedUserIds
 * - `issue.deleted`: title, status
 * - `issue.attachment_added`, `issue.attachment_removed`: attachmentId, fileName
 * - `issue.interaction_created`, `issue.interaction_cancelled`: interactionId,
 * kind, title
 * - `issue.interaction_answered`: the same, and commentId
 */
export type IssueAction =
  | 'issue.created'
  | 'issue.updated'
  | 'issue.checked_out'
  | 'issue.released'
  | 'issue.reopened'
  | 'issue.commented'
  | 'issue.deleted'
  | 'issue.attachment_added'
  | 'issue.attachment_removed'
  | 'issue.interaction_created'
  | 'issue.interaction_answered'
  | 'issue.interaction_cancelled'

export const recordIssue = (
  ctx: Context,
  caller: Caller,
  action: IssueAction,
  issue: Pick<IssueRow, 'id' | 'company_id' | 'identifier'>,
  details: Record<string, unknown>,
) =>
  recordActivity(ctx, caller, {
    companyId: issue.company_id,
    action,
    entity: { type: 'issue', id: issue.id },
    details: { identifier: issue.identifier, ...details },
  })
