import type { Selectable } from 'kysely'
import * as v from 'valibot'
import type { CommentTable } from '../database/tables.ts'
import * as field from '../http/fields.ts'

export type CommentRow = Selectable<CommentTable>

/** A comment as the API shows it. */
export const Comment = v.strictObject({
  id: field.id,
  companyId: field.id,
  issueId: field.id,
  authorType: v.picklist(['agent', 'user', 'system']),
  authorAgentId: v.nullable(field.id),
  authorUserId: v.nullable(v.string()),
  createdByRunId: v.nullable(field.id),
  body: v.string(),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Comment = v.InferOutput<typeof Comment>

export const commentBody = v.pipe(
  field.text,
  v.check((text) => text.trim() !== '', 'must not be empty'),
  v.description('Markdown. `@Name` wakes the agents of that name.'),
)

export const NewComment = v.strictObject({
  body: commentBody,
  reopen: v.optional(
    v.pipe(v.boolean(), v.description('Whether an issue that is done or cancelled becomes todo again.')),
  ),
})
export type NewComment = v.InferOutput<typeof NewComment>

export const toComment = (row: CommentRow): Comment => ({
  id: row.id,
  companyId: row.company_id,
  issueId: row.issue_id,
  authorType: row.author_type,
  authorAgentId: row.author_agent_id,
  authorUserId: row.author_user_id,
  createdByRunId: row.created_by_run_id,
  body: row.body,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
