import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import type { CommentTable } from '../../platform/database/tables.ts'

/** The common fields of comments: author, text and time. */
export const AUTHORED = {
  authorType: v.picklist(['agent', 'user', 'system']),
  authorAgentId: v.nullable(field.id),
  authorUserId: v.nullable(v.string()),
  createdByRunId: v.nullable(field.id),
  body: v.string(),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
}

/** The text of a comment in a request. */
export const commentText = v.pipe(
  field.text,
  v.check((text) => text.trim() !== '', 'must not be empty'),
)

type AuthoredColumns = Pick<
  Selectable<CommentTable>,
  'author_type' | 'author_agent_id' | 'author_user_id' | 'created_by_run_id' | 'body' | 'created_at' | 'updated_at'
>

/** Returns the columns of a new comment of the caller. */
export function authored(ctx: Context, caller: Caller, body: string): AuthoredColumns {
  const author = actorOf(caller)
  return {
    author_type: author.type,
    author_agent_id: author.type === 'agent' ? author.id : null,
    author_user_id: author.type === 'user' ? author.id : null,
    created_by_run_id: caller.type === 'agent' ? caller.runId : null,
    body,
    created_at: ctx.now,
    updated_at: ctx.now,
  }
}

export const toAuthored = (row: AuthoredColumns) => ({
  authorType: row.author_type,
  authorAgentId: row.author_agent_id,
  authorUserId: row.author_user_id,
  createdByRunId: row.created_by_run_id,
  body: row.body,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
