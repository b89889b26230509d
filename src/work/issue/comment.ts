import { v7 as uuid } from 'uuid'
import type { Caller } from '../../access/caller/caller.ts'
import { requestWake } from '../../organization/agent/wake.ts'
import type { Context } from '../../platform/context.ts'
import { authored } from '../comment/authored.ts'
import type { CommentRow } from '../comment/comment.ts'
import { findMentioned } from '../comment/mentions.ts'
import { insertComment, listMentionable } from '../comment/queries.ts'
import type { IssueRow } from './issue.ts'
import { touchIssue } from './queries.ts'
import { recordIssue } from './record.ts'

/** How much of a comment its activity row shows. */
const SNIPPET = 200

/**
 * Adds a comment to an issue and wakes whom it concerns: every agent that it
 * mentions and the issue's assignee, each once, never the author.
 *
 * @param options.wakesAssignee false if the issue is finished with the comment
 */
export function addComment(
  ctx: Context,
  caller: Caller,
  issue: IssueRow,
  body: string,
  { wakesAssignee = true }: { wakesAssignee?: boolean } = {},
): CommentRow {
  const comment = insertComment(ctx.db, {
    id: uuid(),
    company_id: issue.company_id,
    issue_id: issue.id,
    ...authored(ctx, caller, body),
  })
  touchIssue(ctx.db, { id: issue.id, at: ctx.now })
  const mentioned = mentionedAgents(ctx, issue, body)
  const activityId = recordIssue(ctx, caller, 'issue.commented', issue, {
    commentId: comment.id,
    snippet: body.slice(0, SNIPPET).toWellFormed(),
    mentionedAgentIds: mentioned,
  })
  const about = {
    issueId: issue.id,
    commentId: comment.id,
    priority: issue.priority_rank,
    cause: { activityId },
  }
  for (const agentId of mentioned) requestWake(ctx, caller, { agentId, source: 'mention', ...about })
  const assignee = issue.assignee_agent_id
  if (wakesAssignee && assignee !== null && !mentioned.includes(assignee)) {
    requestWake(ctx, caller, { agentId: assignee, source: 'issue_commented', ...about })
  }
  return comment
}

/** The ids of the agents that a comment mentions; the company's names are read only if there is an `@`. */
function mentionedAgents(ctx: Context, issue: IssueRow, body: string): string[] {
  if (!body.includes('@')) return []
  const agents = listMentionable(ctx.db, { companyId: issue.company_id })
  return findMentioned(body, agents).map((agent) => agent.id)
}
