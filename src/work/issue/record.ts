import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { IssueRow } from './issue.ts'

/**
 * What can be said of an issue in the activity; one act, one row. All are about
 * the issue (`entityType: "issue"`) and carry its `identifier` in the details:
 *
 * - `issue.created`: title, status, priority, assigneeAgentId, parentId
 * - `issue.updated`: changes, `{ field: { from, to } }` of each field that changed
 * - `issue.checked_out`: from (the status before), assigneeAgentId
 * - `issue.released`: from, assigneeAgentId or assigneeUserId (who had it), forced
 * - `issue.reopened`: from, completedAt, cancelledAt (which the issue itself forgets)
 * - `issue.commented`: commentId, snippet, mentionedAgentIds, mentionedUserIds
 * - `issue.interaction_created`, `issue.interaction_cancelled`: interactionId, kind, title
 * - `issue.interaction_answered`: the same, and commentId
 */
export type IssueAction =
  | 'issue.created'
  | 'issue.updated'
  | 'issue.checked_out'
  | 'issue.released'
  | 'issue.reopened'
  | 'issue.commented'
  | 'issue.interaction_created'
  | 'issue.interaction_answered'
  | 'issue.interaction_cancelled'

export const recordIssue = (
  ctx: Context,
  caller: Caller,
  action: IssueAction,
  issue: IssueRow,
  details: Record<string, unknown>,
) =>
  recordActivity(ctx, caller, {
    companyId: issue.company_id,
    action,
    entity: { type: 'issue', id: issue.id },
    details: { identifier: issue.identifier, ...details },
  })
