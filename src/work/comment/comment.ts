import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { CommentTable } from '../../platform/database/tables.ts'
import { AUTHORED, commentText, toAuthored } from './authored.ts'

export type CommentRow = Selectable<CommentTable>

/** A comment as the API returns it. */
export const Comment = v.strictObject({
  id: field.id,
  companyId: field.id,
  issueId: field.id,
  ...AUTHORED,
})
export type Comment = v.InferOutput<typeof Comment>

/** A comment as its author receives it. */
export const CreatedComment = v.strictObject({
  ...Comment.entries,
  unknownMentions: v.optional(
    v.pipe(
      v.array(v.string()),
      v.description('The mentioned names that match nobody in the company. Present only if there are any.'),
    ),
  ),
})

export const commentBody = v.pipe(
  commentText,
  v.description(
    'Markdown. `@Name` wakes the agents with that name. Mentions of people and `@board` appear in their inbox.',
  ),
)

export const NewComment = v.strictObject({
  body: commentBody,
  reopen: v.optional(
    v.pipe(v.boolean(), v.description('Whether an issue that is done or cancelled becomes todo again.')),
  ),
  resume: v.optional(v.pipe(v.boolean(), v.description('The same as `reopen`.'))),
})
export type NewComment = v.InferOutput<typeof NewComment>

export const toCreatedComment = (
  row: CommentRow,
  issueId: string,
  unknownMentions: string[],
): v.InferOutput<typeof CreatedComment> => ({
  ...toComment(row, issueId),
  ...(unknownMentions.length > 0 && { unknownMentions }),
})

export const toComment = (row: CommentRow, issueId: string): Comment => ({
  id: row.id,
  companyId: row.company_id,
  issueId,
  ...toAuthored(row),
})
