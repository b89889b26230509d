import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { withdrawWakesOfBlocked } from './blockers.ts'
import type { IssueRow } from './issue.ts'
import { STATUS_AFTER_REOPEN } from './lifecycle.ts'
import { updateIssueRow } from './queries.ts'
import { recordIssue } from './record.ts'
import { assertMayReopen } from './rights.ts'
import { statusWithTimes } from './transition.ts'

/** Reopens an issue that is done or cancelled. Afterwards only the activity contains the time when it was closed. */
export function reopenIssue(ctx: Context, caller: Caller, issue: IssueRow): { issue: IssueRow; activityId: string } {
  assertMayReopen(ctx, caller, issue)
  const reopened = updateIssueRow(ctx.db, issue.id, {
    ...statusWithTimes(STATUS_AFTER_REOPEN, ctx.now),
    updated_at: ctx.now,
  })
  withdrawWakesOfBlocked(ctx, reopened)
  const activityId = recordIssue(ctx, caller, 'issue.reopened', reopened, {
    from: issue.status,
    completedAt: issue.completed_at,
    cancelledAt: issue.cancelled_at,
  })
  return { issue: reopened, activityId }
}
