import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { takeIssueNumber } from '../../organization/company/queries.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { assignmentOf, UNASSIGNED, wakeAssignee } from './assignment.ts'
import { assertNoneOpen } from './blockers.ts'
import type { IssueRow, NewIssue } from './issue.ts'
import { insertIssue } from './queries.ts'
import { recordIssue } from './record.ts'
import { referredBlockers, referredGoal, referredLabels, referredParent, referredProject } from './references.ts'
import { replaceBlockers, replaceLabels } from './relations.ts'
import { assertStrategyApproved } from './strategy.ts'
import { assertHasAssignee, statusWithTimes } from './transition.ts'

/**
 * Creates an issue in any status, because a creation is not a transition.
 * Project and goal default to those of the parent; null means none. Wakes the
 * assignee, unless an import creates the issue, because an import starts no work.
 */
export function createIssue(
  ctx: Context,
  caller: Caller,
  companyId: string,
  want: NewIssue,
  { quiet = false }: { quiet?: boolean } = {},
): IssueRow {
  const parent = referredParent(ctx, companyId, undefined, want.parentId ?? null)
  const labelIds = referredLabels(ctx, companyId, want.labelIds ?? [])
  const blockerIds = referredBlockers(ctx, companyId, undefined, want.blockedByIssueIds ?? [])
  const assignment = { ...UNASSIGNED, ...assignmentOf(ctx, caller, { ...UNASSIGNED, company_id: companyId }, want) }
  const status = want.status ?? 'todo'
  assertHasAssignee(status, assignment)
  if (status === 'in_progress') {
    assertStrategyApproved(ctx, caller)
    assertNoneOpen(ctx, caller, blockerIds)
  }

  const values = {
    ...assignment,
    ...NO_TIMES,
    ...statusWithTimes(status, ctx.now),
    id: uuid(),
    company_id: companyId,
    title: want.title,
    description: want.description ?? null,
    status,
    priority: want.priority ?? 'medium',
    parent_id: parent?.id ?? null,
    project_id:
      want.projectId === undefined ? (parent?.project_id ?? null) : referredProject(ctx, companyId, want.projectId),
    goal_id: want.goalId === undefined ? (parent?.goal_id ?? null) : referredGoal(ctx, companyId, want.goalId),
    ...creatorOf(caller),
    request_depth: parent ? parent.request_depth + 1 : 0,
    billing_code: want.billingCode ?? parent?.billing_code ?? null,
    created_at: ctx.now,
    updated_at: ctx.now,
  }
  const { issue_counter, issue_prefix } = takeIssueNumber(ctx.db, { id: companyId })
  const issue = insertIssue(ctx.db, {
    ...values,
    issue_number: issue_counter,
    identifier: `${issue_prefix}-${issue_counter}`,
  })
  if (labelIds.length > 0) replaceLabels(ctx.db, issue.id, labelIds)
  if (blockerIds.length > 0) replaceBlockers(ctx.db, issue.id, blockerIds)
  const activityId = recordIssue(ctx, caller, 'issue.created', issue, {
    title: issue.title,
    status: issue.status,
    priority: issue.priority,
    assigneeAgentId: issue.assignee_agent_id,
    parentId: issue.parent_id,
  })
  if (!quiet) wakeAssignee(ctx, caller, issue, activityId)
  return issue
}

const NO_TIMES = { started_at: null, completed_at: null, cancelled_at: null }

function creatorOf(caller: Caller) {
  const actor = actorOf(caller)
  return {
    created_by_agent_id: actor.type === 'agent' ? actor.id : null,
    created_by_user_id: actor.type === 'user' ? actor.id : null,
    created_by_run_id: caller.type === 'agent' ? caller.runId : null,
  }
}
