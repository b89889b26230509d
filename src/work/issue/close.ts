import type { BoardCaller, Caller } from '../../access/caller/caller.ts'
import { listLiveRuns } from '../../organization/run/queries.ts'
import { requestStop } from '../../organization/run/stop.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { assignmentOf } from './assignment.ts'
import { addComment } from './comment.ts'
import { getIssue } from './get.ts'
import type { IssueColumns, IssueRow } from './issue.ts'
import { assertTransition, stepsTo } from './lifecycle.ts'
import { updateIssueRow } from './queries.ts'
import { recordIssue } from './record.ts'
import { statusWithTimes, wakeDependents } from './transition.ts'

/**
 * Closes an issue as a person: takes every transition that leads to done, each
 * with its own activity. The assignee does not change; if there is none, the
 * person becomes the assignee. Its live runs stop. Only the assignees of issues that
 * it blocked, and of its parent, are woken. Closing an issue that is done is a
 * no-op.
 */
export function closeIssue(
  ctx: Context,
  caller: Caller,
  ref: string,
  want: { comment?: string | undefined },
): IssueRow {
  if (caller.type !== 'board') throw forbidden('Only the board may close an issue in one step.')
  const issue = getIssue(ctx, caller, ref)
  const closed = issue.status === 'done' ? issue : takeSteps(ctx, caller, issue)
  if (want.comment !== undefined) addComment(ctx, caller, closed, want.comment, { wakesAssignee: false })
  return closed
}

function takeSteps(ctx: Context, caller: BoardCaller, issue: IssueRow): IssueRow {
  const steps = stepsTo(issue.status, 'done')
  if (steps === undefined) assertTransition(issue, 'done')
  let at = issue
  let activityId = ''
  for (const status of steps ?? []) {
    const isOwnerless = at.assignee_agent_id === null && at.assignee_user_id === null
    const assignment = isOwnerless ? assignmentOf(ctx, caller, at, { assigneeUserId: caller.userId }) : {}
    const columns: IssueColumns = { ...assignment, ...statusWithTimes(status, ctx.now), updated_at: ctx.now }
    const after = updateIssueRow(ctx.db, at.id, columns)
    activityId = recordIssue(ctx, caller, 'issue.updated', after, {
      changes: {
        status: { from: at.status, to: status },
        ...(isOwnerless && { assigneeUserId: { from: null, to: caller.userId } }),
      },
    })
    at = after
  }
  for (const run of listLiveRuns(ctx.db, { issueId: at.id })) requestStop(ctx, run.id, 'closed')
  wakeDependents(ctx, caller, at, activityId)
  return at
}
