import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { authored } from '../comment/authored.ts'
import type { ApprovalCommentRow, ApprovalRow } from './approval.ts'
import { insertApprovalComment } from './queries.ts'

/** Comments on an approval of any status. */
export function commentOnApproval(
  ctx: Context,
  caller: Caller,
  approval: ApprovalRow,
  body: string,
): ApprovalCommentRow {
  const comment = insertApprovalComment(ctx.db, {
    id: uuid(),
    company_id: approval.company_id,
    approval_id: approval.id,
    ...authored(ctx, caller, body),
  })
  recordActivity(ctx, caller, {
    companyId: approval.company_id,
    action: 'approval.commented',
    entity: { type: 'approval', id: approval.id },
    details: { commentId: comment.id },
  })
  return comment
}
