import type { Caller } from '../../access/caller/caller.ts'
import { withdrawReasons } from '../../organization/wake/withdraw.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { type IssueRow, toReference } from './issue.ts'
import { OPEN_STATUSES } from './lifecycle.ts'
import { findIssue, isBlocked, listWaitingFor } from './queries.ts'
import { findOpenBlockers } from './relations.ts'

/**
 * Refuses to start an issue while one of its blockers is open. The board may
 * start a blocked issue: its request overrides the blockers.
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
    `${issue.identifier} is blocked by ${names}. Choose another issue. The assignee is woken when the last blocker is done or cancelled.`,
    { issueId: issue.id, status: issue.status, blockedBy: blockers.map(toReference) },
  )
}

/** Refuses to create an issue in progress with an open blocker. The board may create one. */
export function assertNoneOpen(ctx: Context, caller: Caller, blockerIds: readonly string[]): void {
  if (caller.type !== 'agent') return
  const open = blockerIds.map((id) => findIssue(ctx.db, id)!).filter(({ status }) => OPEN_STATUSES.includes(status))
  if (open.length === 0) return
  const names = open.map((blocker) => `${blocker.identifier} (${blocker.status})`).join(', ')
  throw new AppError(
    'blocked',
    `An issue that is blocked by ${names} cannot be created in_progress. Create it as todo or blocked.`,
    { blockedBy: open.map(toReference) },
  )
}

/**
 * Withdraws the waiting wake of an issue's assignee if a blocker of the issue
 * is open. Wakes by a comment, a mention or a person remain.
 */
export function withdrawWakeIfBlocked(ctx: Context, issue: IssueRow): void {
  if (issue.assignee_agent_id === null || !isBlocked(ctx.db, issue)) return
  withdrawReasons(ctx, {
    agentId: issue.assignee_agent_id,
    issueId: issue.id,
    sources: ['issue_assigned', 'blockers_resolved', 'children_done'],
    because: 'blocked',
  })
}

/**
 * Withdraws the waiting wake for the end of an issue's last blocker, because
 * its assignee has checked the issue out in the run that ended the blocker.
 */
export function withdrawWakeOfUnblocked(ctx: Context, issue: IssueRow): void {
  if (issue.assignee_agent_id === null) return
  withdrawReasons(ctx, {
    agentId: issue.assignee_agent_id,
    issueId: issue.id,
    sources: ['blockers_resolved'],
    because: 'at work on it',
  })
}

/** Withdraws the wakes of every issue that a reopened issue blocks. */
export function withdrawWakesOfBlocked(ctx: Context, blocker: IssueRow): void {
  for (const issue of listWaitingFor(ctx.db, { blockerId: blocker.id })) withdrawWakeIfBlocked(ctx, issue)
}
