import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { type IssueRow, toReference } from './issue.ts'
import { findOpenBlockers } from './relations.ts'

/**
 * Refuses to start an issue while a blocker of it is open. The board may start
 * it anyway: its own request is the decision that the issue need not wait.
 *
 * @throws AppError 422 `blocked`, with the open blockers
 */
export function assertNotBlocked(ctx: Context, caller: Caller, issue: IssueRow): void {
  if (caller.type !== 'agent') return
  const blockers = findOpenBlockers(ctx.db, [issue])(issue.id)
  if (blockers.length === 0) return
  const names = blockers.map((blocker) => `${blocker.identifier} (${blocker.status})`).join(', ')
  throw new AppError(
    'blocked',
    `${issue.identifier} is blocked by ${names}. Choose another issue; its assignee is woken when the last blocker is done or cancelled.`,
    { issueId: issue.id, status: issue.status, blockedBy: blockers.map(toReference) },
  )
}
