import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { findLiveRunOnIssue } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { UNASSIGNED } from './assignment.ts'
import { getIssue } from './get.ts'
import type { IssueRow } from './issue.ts'
import { statusAfterRelease } from './lifecycle.ts'
import { listOpenIssuesOfAgent, updateIssueRow } from './queries.ts'
import { recordIssue } from './record.ts'

/**
 * Releases an issue: it has no assignee afterwards, and an issue in progress
 * becomes todo. Only its assignee and the board may release it. Releasing an
 * unassigned issue is a no-op.
 *
 * @param options.forced whether the board takes the issue away; recorded in the activity
 */
export function releaseIssue(ctx: Context, caller: Caller, ref: string, options = { forced: false }): IssueRow {
  const issue = getIssue(ctx, caller, ref)
  if (issue.assignee_agent_id === null && issue.assignee_user_id === null) return issue
  if (caller.type === 'agent' && issue.assignee_agent_id !== caller.agentId) {
    throw forbidden(
      `${issue.identifier} is not assigned to you, so you cannot release it. Only its assignee and the board can.`,
    )
  }
  const released = unassign(ctx, issue)
  recordIssue(ctx, caller, 'issue.released', released, {
    from: issue.status,
    assigneeAgentId: issue.assignee_agent_id,
    assigneeUserId: issue.assignee_user_id,
    forced: options.forced,
  })
  return released
}

/** Returns the assignee of an issue, and the live run that works on it. */
export const holderOf = (ctx: Context, issue: IssueRow) => ({
  status: issue.status,
  assigneeAgentId: issue.assignee_agent_id,
  assigneeUserId: issue.assignee_user_id,
  runId:
    issue.assignee_agent_id === null
      ? null
      : (findLiveRunOnIssue(ctx.db, { issueId: issue.id, agentId: issue.assignee_agent_id })?.id ?? null),
})

/**
 * Releases every open issue of an agent that was terminated.
 *
 * @returns the ids of the issues, the most urgent first
 */
export function releaseIssuesOfAgent(ctx: Context, caller: Caller, agent: AgentRow): string[] {
  return listOpenIssuesOfAgent(ctx.db, { agentId: agent.id }).map((issue) => {
    const released = unassign(ctx, issue)
    recordActivity(ctx, caller, {
      companyId: agent.company_id,
      action: 'issue.released',
      entity: { type: 'issue', id: issue.id },
      agentId: agent.id,
      details: {
        identifier: issue.identifier,
        from: issue.status,
        to: released.status,
        because: 'agent.terminated',
      },
    })
    return issue.id
  })
}

const unassign = (ctx: Context, issue: IssueRow): IssueRow =>
  updateIssueRow(ctx.db, issue.id, {
    ...UNASSIGNED,
    status: statusAfterRelease(issue.status),
    updated_at: ctx.now,
  })
