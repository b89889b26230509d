import type { AgentCaller, Caller } from '../../access/caller/caller.ts'
import { findAgent, isAbove, listManagers } from '../../organization/agent/queries.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import type { IssueRow } from './issue.ts'

/**
 * Refuses an agent that may not change an issue's status or assignee. Its
 * assignee, the managers above the assignee and its creator may; an unassigned
 * issue may be changed by anyone. Every agent of the company may change the
 * other fields, because the org tree is not access control.
 */
export function assertMayReassign(ctx: Context, caller: Caller, issue: IssueRow): void {
  if (caller.type !== 'agent') return
  if (issue.assignee_agent_id === null && issue.assignee_user_id === null) return
  if (issue.created_by_agent_id === caller.agentId || isAssigneeOrAbove(ctx, caller, issue)) return
  throw forbidden(
    `${issue.identifier} is assigned to ${assigneeName(ctx, issue)}. Only the assignee, the managers above it, the issue's creator and the board may change its status or assignee. Leave a comment instead.`,
  )
}

/** Refuses an agent that may not reopen an issue. Its assignee, the managers above the assignee and the board may. */
export function assertMayReopen(ctx: Context, caller: Caller, issue: IssueRow): void {
  if (caller.type !== 'agent' || isAssigneeOrAbove(ctx, caller, issue)) return
  throw forbidden(`Only the assignee of ${issue.identifier}, the managers above it and the board may reopen it.`)
}

function isAssigneeOrAbove(ctx: Context, caller: AgentCaller, issue: IssueRow): boolean {
  const agentId = issue.assignee_agent_id
  if (agentId === null) return false
  return agentId === caller.agentId || isAbove(ctx.db, { managerId: caller.agentId, agentId })
}

/** Returns the name of an issue's assignee; null if it has none. */
export const assigneeName = (ctx: Context, issue: IssueRow): string | null =>
  issue.assignee_agent_id === null
    ? issue.assignee_user_id
    : (findAgent(ctx.db, { id: issue.assignee_agent_id })?.name ?? null)

/**
 * Refuses an assignee that cancels an issue which was assigned from outside its
 * reporting line (contract rule 5). Its line consists of the board, the agent
 * itself and the managers above it.
 */
export function assertMayCancel(ctx: Context, caller: Caller, issue: IssueRow): void {
  if (caller.type !== 'agent' || issue.assignee_agent_id !== caller.agentId) return
  if (issue.assigned_by_type !== 'agent' || issue.assigned_by_id === caller.agentId) return
  const managers = listManagers(ctx.db, { agentId: caller.agentId })
  if (managers.some((above) => above.id === issue.assigned_by_id)) return
  const manager = managers[0]
  const instead = manager
    ? `Reassign it to your manager ${manager.name} (assigneeAgentId ${manager.id}) with a comment`
    : 'Leave a comment for the board'
  throw forbidden(
    `${issue.identifier} was assigned to you from outside your reporting line, so you cannot cancel it. ${instead}.`,
    manager && { managerAgentId: manager.id, managerName: manager.name },
  )
}
