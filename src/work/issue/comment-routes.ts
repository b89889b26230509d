import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { decodeCursor, LIST_QUERY, Page } from '../../http/list.ts'
import type { Context } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { Comment, CreatedComment, NewComment, toComment, toCreatedComment } from '../comment/comment.ts'
import { countComments, findComment, listComments } from '../comment/queries.ts'
import { addComment, unknownMentionsIn } from './comment.ts'
import { getIssue } from './get.ts'
import type { IssueRow } from './issue.ts'
import { isTerminal } from './lifecycle.ts'
import { reopenIssue } from './reopen.ts'

export const commentRoutes = [
  route({
    id: 'comments.list',
    method: 'GET',
    path: '/api/issues/:issueId/comments',
    summary: "List an issue's comments, oldest first",
    who: [board, agent],
    query: v.object({
      ...LIST_QUERY,
      order: v.optional(v.picklist(['asc', 'desc']), 'asc'),
      after: v.optional(
        v.pipe(
          v.string(),
          v.description('The cursor of the previous page, or the id of the last comment that was read.'),
        ),
      ),
    }),
    responses: { 200: v.array(Comment) },
    run: (ctx, { caller, params, query }) => {
      const issue = getIssue(ctx, caller, params.issueId)
      const { limit, order } = query
      const rows = listComments(ctx.db, { issueSeq: issue.seq, order, after: seqOf(ctx, issue, query.after), limit })
      const total = query.count === 'true' ? countComments(ctx.db, { issueSeq: issue.seq }) : undefined
      return Page.of(rows, { limit, cursorOf: (row) => [row.seq], show: (row) => toComment(row, issue.id), total })
    },
  }),
  route({
    id: 'comments.get',
    method: 'GET',
    path: '/api/issues/:issueId/comments/:commentId',
    summary: 'Get a comment',
    who: [board, agent],
    responses: { 200: Comment },
    run: (ctx, { caller, params }) => {
      const issue = getIssue(ctx, caller, params.issueId)
      const comment = findComment(ctx.db, { issueSeq: issue.seq, id: params.commentId })
      if (!comment) throw notFound('comment', params.commentId)
      return toComment(comment, issue.id)
    },
  }),
  route({
    id: 'comments.create',
    method: 'POST',
    path: '/api/issues/:issueId/comments',
    summary: 'Comment on an issue, and wake the agents that the comment mentions',
    who: [board, agent],
    role: 'member',
    body: NewComment,
    responses: { 201: CreatedComment },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const issue = getIssue(ctx, caller, params.issueId)
        const open =
          (body.reopen || body.resume) && isTerminal(issue.status) ? reopenIssue(ctx, caller, issue).issue : issue
        const comment = addComment(ctx, caller, open, body.body)
        return toCreatedComment(comment, issue.id, unknownMentionsIn(ctx, comment))
      }),
  }),
]

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Returns the `seq` after which a page begins. `after` is a cursor, or the id
 * of the last comment that an agent read.
 */
function seqOf(ctx: Context, issue: IssueRow, after: string | undefined): number | undefined {
  if (after === undefined || !UUID.test(after)) return decodeCursor(after, ['number'])?.[0]
  const comment = findComment(ctx.db, { issueSeq: issue.seq, id: after })
  if (!comment) throw invalid([{ path: 'after', message: 'is not a comment of this issue' }])
  return comment.seq
}
