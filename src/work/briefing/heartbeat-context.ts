import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import * as field from '../../http/fields.ts'
import type { WakeReason } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import { sql } from '../../platform/database/sql.ts'
import { Attachment, toAttachment } from '../attachment/attachment.ts'
import { listAttachments } from '../attachment/queries.ts'
import { Comment, toComment } from '../comment/comment.ts'
import { countComments, findComment, listComments } from '../comment/queries.ts'
import { DocumentSummary, toDocumentSummary } from '../document/document.ts'
import { listDocuments } from '../document/queries.ts'
import { contextOf, ISSUE_CONTEXT } from '../issue/context.ts'
import { Issue, type IssueRow } from '../issue/issue.ts'
import { showIssue } from '../issue/show.ts'
import { findOpenApprovals, OpenApproval } from './inbox.ts'

/**
 * The data that an agent needs to begin work on an issue. The agent reads the
 * comments with `after` from the cursor.
 */
export const HeartbeatContext = v.strictObject({
  issue: Issue,
  ...ISSUE_CONTEXT,
  commentCursor: v.strictObject({
    totalComments: field.integer,
    latestCommentId: v.nullable(field.id),
    latestCommentAt: v.nullable(field.timestamp),
  }),
  wakeComment: v.pipe(v.nullable(Comment), v.description('The comment that woke the agent.')),
  attachments: v.array(Attachment),
  documents: v.pipe(v.array(DocumentSummary), v.description('Without their texts.')),
  approvals: v.pipe(v.array(OpenApproval), v.description('The undecided approvals that are linked to the issue.')),
})

export function heartbeatContextOf(
  ctx: Context,
  caller: Caller,
  issue: IssueRow,
  wakeCommentId: string | undefined,
): v.InferOutput<typeof HeartbeatContext> {
  const [latest] = listComments(ctx.db, { issueSeq: issue.seq, order: 'desc', after: undefined, limit: 1 })
  const woken = wakeCommentId ?? wakeCommentOf(ctx, caller, issue)
  const wakeComment = woken === undefined ? undefined : findComment(ctx.db, { issueSeq: issue.seq, id: woken })
  return {
    issue: showIssue(ctx, caller, issue),
    ...contextOf(ctx, issue),
    commentCursor: {
      totalComments: countComments(ctx.db, { issueSeq: issue.seq }),
      latestCommentId: latest?.id ?? null,
      latestCommentAt: latest?.created_at ?? null,
    },
    wakeComment: wakeComment ? toComment(wakeComment, issue.id) : null,
    attachments: listAttachments(ctx.db, { issueId: issue.id }).map(toAttachment),
    documents: listDocuments(ctx.db, { issueId: issue.id }).map(toDocumentSummary),
    approvals: findOpenApprovals(ctx.db, [issue])(issue.id),
  }
}

/** Returns the last comment on the issue among the reasons of the caller's run. */
function wakeCommentOf(ctx: Context, caller: Caller, issue: IssueRow): string | undefined {
  if (caller.type !== 'agent' || caller.runId === null) return undefined
  const run = ctx.db.first(sql.selectFrom('run').select('reasons').where('id', '=', caller.runId))
  const reasons = JSON.parse(run?.reasons ?? '[]') as WakeReason[]
  return reasons.findLast((reason) => reason.issueId === issue.id && reason.commentId !== null)?.commentId ?? undefined
}
