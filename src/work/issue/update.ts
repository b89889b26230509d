import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { CommentRow } from '../comment/comment.ts'
import { assignmentOf, wakeAssignee } from './assignment.ts'
import { assertNotBlocked, withdrawWakeIfBlocked } from './blockers.ts'
import { addComment } from './comment.ts'
import { getIssue } from './get.ts'
import type { IssueChange, IssueColumns, IssueRow } from './issue.ts'
import { assertTransition, isTerminal } from './lifecycle.ts'
import { deepenIssues, findIssue, isBlocked, updateIssueRow } from './queries.ts'
import { recordIssue } from './record.ts'
import { referredBlockers, referredGoal, referredLabels, referredParent, referredProject } from './references.ts'
import { findRelations, replaceBlockers, replaceLabels } from './relations.ts'
import { reopenIssue } from './reopen.ts'
import { assertMayCancel, assertMayReassign } from './rights.ts'
import { assertStrategyApproved } from './strategy.ts'
import { assertHasAssignee, statusWithTimes, wakeDependents, wakeUnblocked } from './transition.ts'

/**
 * Changes an issue, and adds a comment to it. Setting a field to its current
 * value is a no-op, which records no activity and needs no permission.
 */
export function updateIssue(
  ctx: Context,
  caller: Caller,
  ref: string,
  want: IssueChange,
): { issue: IssueRow; comment: CommentRow | undefined } {
  const found = getIssue(ctx, caller, ref)
  const reopening =
    (want.reopen || want.resume) && isTerminal(found.status) ? reopenIssue(ctx, caller, found) : undefined
  const before = reopening?.issue ?? found
  const assignment = assignmentOf(ctx, caller, before, want)
  const transition = transitionOf(ctx, caller, before, want.status)
  if (Object.keys(assignment).length > 0 || Object.keys(transition).length > 0) {
    assertMayReassign(ctx, caller, before)
    assertHasAssignee(want.status ?? before.status, { ...before, ...assignment })
  }
  const wasBlocked = want.blockedByIssueIds !== undefined && isBlocked(ctx.db, before)
  const columns = { ...plainColumns(want), ...placeOf(ctx, before, want), ...assignment, ...transition }
  const changes = { ...changedColumns(before, columns), ...changeRelations(ctx, before, want) }
  if (changes.status?.to === 'in_progress') assertNotBlocked(ctx, caller, before)
  const change = Object.keys(changes).length > 0 ? apply(ctx, caller, before, columns, changes) : undefined
  const after = change?.issue ?? before
  const isNewToAssignee = after.assignee_agent_id !== found.assignee_agent_id || !isToDo(found)
  if (isNewToAssignee) wakeAssignee(ctx, caller, after, change?.activityId ?? reopening?.activityId)
  if (change && wasBlocked && !isBlocked(ctx.db, after)) wakeUnblocked(ctx, caller, after, change.activityId)
  if (changes.blockedByIssueIds) withdrawWakeIfBlocked(ctx, after)
  if (change && isTerminal(after.status) && !isTerminal(before.status)) {
    wakeDependents(ctx, caller, after, change.activityId)
  }
  const comment = want.comment === undefined ? undefined : addComment(ctx, caller, after, want.comment)
  return { issue: after, comment }
}

type Changes = Record<string, { from: unknown; to: unknown }>

/** Whether an issue can be worked on: it is neither in the backlog nor in a terminal status. */
const isToDo = (issue: IssueRow) => issue.status !== 'backlog' && !isTerminal(issue.status)

function apply(ctx: Context, caller: Caller, before: IssueRow, columns: IssueColumns, changes: Changes) {
  const after = updateIssueRow(ctx.db, before.id, { ...columns, updated_at: ctx.now })
  const activityId = recordIssue(ctx, caller, 'issue.updated', after, { changes })
  if (!changes.parentId) return { issue: after, activityId }
  const depth = after.parent_id === null ? 0 : findIssue(ctx.db, after.parent_id)!.request_depth + 1
  deepenIssues(ctx.db, { id: after.id, by: depth - before.request_depth })
  return { issue: { ...after, request_depth: depth }, activityId }
}

/** Returns the columns that a change of status sets; none if the issue already has the status. */
function transitionOf(ctx: Context, caller: Caller, issue: IssueRow, to: IssueRow['status'] | undefined): IssueColumns {
  if (to === undefined || to === issue.status) return {}
  assertTransition(issue, to)
  if (to === 'cancelled') assertMayCancel(ctx, caller, issue)
  if (to === 'in_progress') assertStrategyApproved(ctx, caller)
  return statusWithTimes(to, ctx.now)
}

function plainColumns(want: IssueChange): IssueColumns {
  return {
    ...(want.title !== undefined && { title: want.title }),
    ...(want.description !== undefined && { description: want.description }),
    ...(want.priority !== undefined && { priority: want.priority }),
    ...(want.billingCode !== undefined && { billing_code: want.billingCode }),
  }
}

/** Returns the columns of the issue's parent, project and goal. */
function placeOf(ctx: Context, issue: IssueRow, want: IssueChange): IssueColumns {
  const companyId = issue.company_id
  const place: IssueColumns = {}
  if (want.projectId !== undefined) place.project_id = referredProject(ctx, companyId, want.projectId)
  if (want.goalId !== undefined) place.goal_id = referredGoal(ctx, companyId, want.goalId)
  if (want.parentId !== undefined) {
    place.parent_id = referredParent(ctx, companyId, issue, want.parentId)?.id ?? null
  }
  return place
}

/** Sets labels and blockers. Returns which of the two changed. */
function changeRelations(ctx: Context, issue: IssueRow, want: IssueChange): Changes {
  if (want.labelIds === undefined && want.blockedByIssueIds === undefined) return {}
  const changes: Changes = {}
  const before = findRelations(ctx.db, [issue])(issue.id)
  if (want.labelIds !== undefined) {
    const from = before.labels.map((label) => label.id)
    const to = referredLabels(ctx, issue.company_id, want.labelIds)
    if (!isSameSet(from, to)) {
      replaceLabels(ctx.db, issue.id, to)
      changes.labelIds = { from, to }
    }
  }
  if (want.blockedByIssueIds !== undefined) {
    const from = before.blockedBy.map((blocker) => blocker.id)
    const to = referredBlockers(ctx, issue.company_id, issue, want.blockedByIssueIds)
    if (!isSameSet(from, to)) {
      replaceBlockers(ctx.db, issue.id, to)
      changes.blockedByIssueIds = { from, to }
    }
  }
  return changes
}

const isSameSet = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && new Set([...a, ...b]).size === a.length

/** The columns that the activity tracks, by their API names. */
const TRACKED_FIELDS = {
  title: 'title',
  description: 'description',
  status: 'status',
  priority: 'priority',
  assignee_agent_id: 'assigneeAgentId',
  assignee_user_id: 'assigneeUserId',
  parent_id: 'parentId',
  project_id: 'projectId',
  goal_id: 'goalId',
  billing_code: 'billingCode',
} as const

function changedColumns(before: IssueRow, columns: IssueColumns): Changes {
  const changes: Changes = {}
  for (const [column, name] of Object.entries(TRACKED_FIELDS) as [keyof typeof TRACKED_FIELDS, string][]) {
    const to = columns[column]
    if (to !== undefined && to !== before[column]) changes[name] = { from: truncate(before[column]), to: truncate(to) }
  }
  return changes
}

/** The maximum length of a text in the activity. */
const MAX_RECORDED_LENGTH = 500

const truncate = (value: string | null) =>
  value !== null && value.length > MAX_RECORDED_LENGTH
    ? `${value.slice(0, MAX_RECORDED_LENGTH).toWellFormed()}…`
    : value
