import { v7 as uuid } from 'uuid'
import { recordActivity } from '../activity/record.ts'
import type { Context } from '../context.ts'
import { actorOf, type Caller } from '../http/caller.ts'
import type { ApprovalCommentRow, ApprovalRow } from './approval.ts'
import { insertApprovalComment } from './queries.ts'

/** Comments on an approval, whatever its status. */
export function commentOnApproval(
  ctx: Context,
  caller: Caller,
  approval: ApprovalRow,
  body: string,
): ApprovalCommentRow {
  const author = actorOf(caller)
  const comment = insertApprovalComment(ctx.db, {
    id: uuid(),
    company_id: approval.company_id,
    approval_id: approval.id,
    author_type: author.type,
    author_agent_id: author.type === 'agent' ? author.id : null,
    author_user_id: author.type === 'user' ? author.id : null,
    created_by_run_id: caller.type === 'agent' ? caller.runId : null,
    body,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  recordActivity(ctx, caller, {
    companyId: approval.company_id,
    action: 'approval.commented',
    entity: { type: 'approval', id: approval.id },
    details: { commentId: comment.id },
  })
  return comment
}
