import type { Caller } from '../../access/caller/caller.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { authored } from '../comment/authored.ts'
import type { CommentRow } from '../comment/comment.ts'
import { findMentioned, findUnknownMentions } from '../comment/mentions.ts'
import { insertComment, insertMentions, listMentionable, type Mentionable } from '../comment/queries.ts'
import type { IssueRow } from './issue.ts'
import { touchIssue } from './queries.ts'
import { recordIssue } from './record.ts'

/** The maximum length of the comment's text in its activity. */
const SNIPPET = 200

/**
 * Adds a comment to an issue and wakes the agents concerned: every mentioned
 * agent and the issue's assignee, each once, but not the author. Mentioned
 * people find it in their inbox.
 *
 * @param options.wakesAssignee false if the comment comes with the end of the
 *   issue
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
    issue_seq: issue.seq,
    ...authored(ctx, caller, body),
  })
  touchIssue(ctx.db, { id: issue.id, at: ctx.now })
  const { agentIds: mentioned, userIds } = findMentionedIds(ctx, issue, body)
  insertMentions(ctx.db, comment, userIds)
  const activityId = recordIssue(ctx, caller, 'issue.commented', issue, {
    commentId: comment.id,
    snippet: body.slice(0, SNIPPET).toWellFormed(),
    mentionedAgentIds: mentioned,
    mentionedUserIds: userIds,
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

/**
 * Returns the agents and people that a comment mentions. Reads the company's
 * names only if the text contains an `@`.
 */
function findMentionedIds(ctx: Context, issue: IssueRow, body: string): { agentIds: string[]; userIds: string[] } {
  if (!body.includes('@')) return { agentIds: [], userIds: [] }
  const mentioned = findMentioned(body, listMentionable(ctx.db, { companyId: issue.company_id }))
  const idsOf = (type: Mentionable['type']) => mentioned.filter((one) => one.type === type).map(({ id }) => id)
  return { agentIds: idsOf('agent'), userIds: idsOf('user') }
}

/** Returns the mentioned names that do not exist in the company. */
export const unknownMentionsIn = (ctx: Context, comment: Pick<CommentRow, 'company_id' | 'body'>): string[] =>
  comment.body.includes('@')
    ? findUnknownMentions(comment.body, listMentionable(ctx.db, { companyId: comment.company_id }))
    : []
