import { findMember } from '../../access/board/membership-queries.ts'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import type { Permissions } from '../../organization/agent/agent.ts'
import { findAgent, listManagers } from '../../organization/agent/queries.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, unknownReference, unprocessable } from '../../platform/errors.ts'
import type { IssueColumns, IssueRow } from './issue.ts'
import { isTerminal } from './lifecycle.ts'
import { isBlocked } from './queries.ts'

interface Wanted {
  assigneeAgentId?: string | null | undefined
  assigneeUserId?: string | null | undefined
}

type Assignee = Pick<IssueRow, 'assignee_agent_id' | 'assignee_user_id'>

/**
 * Returns the columns to set so that an issue has the wanted assignee; none if
 * it has it already. An issue has one assignee, so an agent replaces a person,
 * and a person replaces an agent.
 */
export function assignmentOf(
  ctx: Context,
  caller: Caller,
  issue: Assignee & { company_id: string },
  want: Wanted,
): IssueColumns {
  if (want.assigneeAgentId === undefined && want.assigneeUserId === undefined) return {}
  if (want.assigneeAgentId && want.assigneeUserId) {
    throw unprocessable('assigneeUserId', 'an issue has only one assignee, an agent or a person')
  }
  const agentId =
    want.assigneeAgentId === undefined ? (want.assigneeUserId ? null : issue.assignee_agent_id) : want.assigneeAgentId
  const userId =
    want.assigneeUserId === undefined ? (want.assigneeAgentId ? null : issue.assignee_user_id) : want.assigneeUserId
  const after = {
    assignee_agent_id: agentId && liveAssignee(ctx, issue, agentId),
    assignee_user_id: userId && personOf(ctx, caller, issue, userId),
  }
  if (after.assignee_agent_id === issue.assignee_agent_id && after.assignee_user_id === issue.assignee_user_id) {
    return {}
  }
  assertMayAssign(ctx, caller, after)
  return { ...after, ...assignedBy(ctx, caller, after) }
}

/**
 * Refuses an agent without permission to assign issues to others. It may still
 * assign issues to itself and to its managers.
 */
function assertMayAssign(ctx: Context, caller: Caller, to: Assignee): void {
  if (caller.type !== 'agent' || to.assignee_agent_id === null || to.assignee_agent_id === caller.agentId) return
  const { canAssignTasks }: Permissions = JSON.parse(findAgent(ctx.db, { id: caller.agentId })!.permissions)
  if (canAssignTasks !== false) return
  if (listManagers(ctx.db, { agentId: caller.agentId }).some(({ id }) => id === to.assignee_agent_id)) return
  throw forbidden(
    'The board has revoked your permission to assign issues to other agents. Ask your manager to assign it.',
  )
}

function assignedBy(ctx: Context, caller: Caller, to: Assignee): IssueColumns {
  if (to.assignee_agent_id === null && to.assignee_user_id === null) return UNASSIGNED
  const actor = actorOf(caller)
  return { assigned_by_type: actor.type, assigned_by_id: actor.id, assigned_at: ctx.now }
}

/** The columns of an issue without assignee. */
export const UNASSIGNED = {
  assignee_agent_id: null,
  assignee_user_id: null,
  assigned_by_type: null,
  assigned_by_id: null,
  assigned_at: null,
} as const

/**
 * Returns the id of the person that `assigneeUserId` refers to. In local
 * trusted mode the server knows no people and accepts any id.
 */
function personOf(ctx: Context, caller: Caller, issue: Assignee & { company_id: string }, ref: string): string {
  const id = ref === 'me' && caller.type === 'board' ? caller.userId : ref
  if (ctx.config.mode === 'local_trusted' || id === issue.assignee_user_id) return id
  if (!findMember(ctx.db, { companyId: issue.company_id, userId: id }))
    throw unknownReference('assigneeUserId', 'member')
  return id
}

function liveAssignee(ctx: Context, issue: Assignee & { company_id: string }, ref: string): string {
  const agent = getReferredAgent(ctx, issue.company_id, 'assigneeAgentId', ref)
  if (agent.id === issue.assignee_agent_id) return agent.id
  if (agent.status === 'terminated' || agent.status === 'pending_approval') {
    const why = agent.status === 'terminated' ? 'is terminated' : 'waits for the approval of the board'
    throw new AppError('agent_not_ready', `assigneeAgentId: ${agent.name} ${why} and cannot be assigned to issues.`, {
      agentId: agent.id,
      status: agent.status,
    })
  }
  return agent.id
}

/**
 * Wakes the agent of an issue if the issue can be worked on: it is not in the
 * backlog, not finished, and has no open blocker.
 *
 * @param activityId the activity that caused it
 */
export function wakeAssignee(ctx: Context, caller: Caller, issue: IssueRow, activityId: string | undefined): void {
  if (issue.assignee_agent_id === null || isBlocked(ctx.db, issue)) return
  wakeForIssue(ctx, caller, issue, activityId)
}

/** Wakes the agent of an issue, even if a blocker of the issue is open. */
export function wakeForIssue(ctx: Context, caller: Caller, issue: IssueRow, activityId: string | undefined): void {
  if (issue.assignee_agent_id === null || issue.status === 'backlog' || isTerminal(issue.status)) return
  requestWake(ctx, caller, {
    agentId: issue.assignee_agent_id,
    source: 'issue_assigned',
    issueId: issue.id,
    priority: issue.priority_rank,
    ...(activityId !== undefined && { cause: { activityId } }),
  })
}
