import type { Caller } from '../../access/caller.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { UNASSIGNED } from './assignment.ts'
import { getIssue } from './get.ts'
import type { IssueRow } from './issue.ts'
import { updateIssueRow } from './queries.ts'
import { recordIssue } from './record.ts'

/**
 * Gives an issue back: it is nobody's, and todo again if it was in progress.
 * Its assignee may, and the board. Releasing what is free changes nothing.
 *
 * @param options.forced whether the board takes it away, which the activity says
 */
export function releaseIssue(ctx: Context, caller: Caller, ref: string, options = { forced: false }): IssueRow {
  const issue = getIssue(ctx, caller, ref)
  if (issue.assignee_agent_id === null && issue.assignee_user_id === null) return issue
  if (caller.type === 'agent' && issue.assignee_agent_id !== caller.agentId) {
    throw forbidden(`${issue.identifier} is not yours to release. Its assignee and the board can release it.`)
  }
  const released = updateIssueRow(ctx.db, issue.id, {
    ...UNASSIGNED,
    status: issue.status === 'in_progress' ? 'todo' : issue.status,
    updated_at: ctx.now,
  })
  recordIssue(ctx, caller, 'issue.released', released, {
    from: issue.status,
    assigneeAgentId: issue.assignee_agent_id,
    assigneeUserId: issue.assignee_user_id,
    forced: options.forced,
  })
  return released
}
