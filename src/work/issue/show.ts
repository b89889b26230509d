import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import { type Issue, type IssueRow, toIssue } from './issue.ts'
import { findRelations, hasRelations, NO_RELATIONS } from './relations.ts'
import { findUnread } from './unread.ts'
import { isUnreadFor } from './unread-queries.ts'

/** Returns issues in their public form, as the caller sees them. */
export function showIssues(ctx: Context, caller: Caller, rows: readonly IssueRow[]): (row: IssueRow) => Issue {
  const relationsOf = findRelations(ctx.db, rows)
  const isUnread = findUnread(ctx.db, caller, rows)
  return (row) => toIssue(row, { ...relationsOf(row.id), unread: isUnread(row) })
}

/** Returns an issue in its public form, as the caller sees it: with one query if it has no relations. */
export function showIssue(ctx: Context, caller: Caller, row: IssueRow): Issue {
  const state = ctx.db.first(stateOf({ seq: row.seq, userId: caller.type === 'board' ? caller.userId : null }))
  const relations = state?.isRelated ? findRelations(ctx.db, [row])(row.id) : NO_RELATIONS
  return toIssue(row, { ...relations, unread: state?.isUnread === 1 })
}

/** Whether an issue has relations, and is unread for a person. */
const stateOf = prepared((of: { seq: number; userId: string | null }) =>
  sql
    .selectFrom('issue')
    .select([
      hasRelations.as('isRelated'),
      raw<number>`case when ${of.userId} is not null then ${isUnreadFor(of.userId)} end`.as('isUnread'),
    ])
    .where('seq', '=', of.seq),
)
