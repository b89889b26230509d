import type { Caller } from '../../access/caller/caller.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { IssueColumns, IssueRow } from './issue.ts'
import { type IssueStatus, isTerminal } from './lifecycle.ts'
import { findIssue, hasOpenChild, isBlocked, listUnblockedBy } from './queries.ts'

/** Returns the columns of a status: the status and its timestamps. `started_at` is the latest start. */
export const statusWithTimes = (status: IssueStatus, at: string): IssueColumns => ({
  status,
  ...(status === 'in_progress' && { started_at: at }),
  completed_at: status === 'done' ? at : null,
  cancelled_at: status === 'cancelled' ? at : null,
})

/** Refuses an issue in progress without an assignee (contract rule 1). */
export function assertHasAssignee(
  status: IssueStatus,
  assignee: Pick<IssueColumns, 'assignee_agent_id' | 'assignee_user_id'>,
): void {
  if (status !== 'in_progress' || assignee.assignee_agent_id || assignee.assignee_user_id) return
  throw new AppError(
    'semantic',
    'status: an issue in progress has an assignee. Check it out, name an assignee, or release it to give it back.',
    { fields: [{ path: 'status', message: 'in_progress needs an assignee' }] },
  )
}

/**
 * Wakes the agents that waited for an issue which ended: the assignees of the
 * issues that it blocked, and of its parent.
 *
 * @param activityId the activity that ended it
 */
export function wakeDependents(ctx: Context, caller: Caller, ended: IssueRow, activityId: string): void {
  for (const freed of listUnblockedBy(ctx.db, { blockerId: ended.id })) {
    wakeUnblocked(ctx, caller, freed, activityId)
  }
  if (ended.parent_id === null || hasOpenChild(ctx.db, { parentId: ended.parent_id })) return
  const parent = findIssue(ctx.db, ended.parent_id)!
  if (!isBlocked(ctx.db, parent)) wake(ctx, caller, parent, 'children_done', activityId)
}

/**
 * Wakes the assignee of an issue that has no open blocker any more.
 *
 * @param activityId the activity that caused it
 */
export const wakeUnblocked = (ctx: Context, caller: Caller, issue: IssueRow, activityId: string): void =>
  wake(ctx, caller, issue, 'blockers_resolved', activityId)

function wake(
  ctx: Context,
  caller: Caller,
  issue: IssueRow,
  source: 'blockers_resolved' | 'children_done',
  activityId: string,
): void {
  if (issue.assignee_agent_id === null || isTerminal(issue.status)) return
  requestWake(ctx, caller, {
    agentId: issue.assignee_agent_id,
    source,
    issueId: issue.id,
    priority: issue.priority_rank,
    cause: { activityId },
  })
}
