import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import { type Issue, type IssueRow, toIssue } from './issue.ts'
import { isIdentifier } from './queries.ts'
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
  return showWithState(ctx, row, ctx.db.first(stateOf({ seq: row.seq, userId: readerOf(caller) })))
}

/**
 * Gets an issue by its id or identifier, and its public form as the caller sees
 * it: with one query if it has no relations.
 *
 * @throws AppError 404 as `getIssue` does
 */
export function getShownIssue(ctx: Context, caller: Caller, ref: string): { row: IssueRow; issue: Issue } {
  const found = ctx.db.first((isIdentifier(ref) ? byIdentifier : byId)({ ref, userId: readerOf(caller) }))
  const row = requireVisible(ctx, caller, found, 'issue', ref)
  return { row, issue: showWithState(ctx, row, row) }
}

/** The person for whom an issue is unread or not. */
const readerOf = (caller: Caller) => (caller.type === 'board' ? caller.userId : null)

interface State {
  isRelated: boolean
  isUnread: number | null
}

function showWithState(ctx: Context, row: IssueRow, state: State | undefined): Issue {
  const relations = state?.isRelated ? findRelations(ctx.db, [row])(row.id) : NO_RELATIONS
  return toIssue(row, { ...relations, unread: state?.isUnread === 1 })
}

/** Whether an issue has relations, and is unread for a person. */
const stateFor = (userId: string | null) =>
  [
    hasRelations.as('isRelated'),
    raw<number | null>`case when ${userId} is not null then ${isUnreadFor(userId)} end`.as('isUnread'),
  ] as const

const stateOf = prepared((of: { seq: number; userId: string | null }) =>
  sql.selectFrom('issue').select(stateFor(of.userId)).where('seq', '=', of.seq),
)

const withState = (userId: string | null) => sql.selectFrom('issue').selectAll('issue').select(stateFor(userId))
const byId = prepared((of: { ref: string; userId: string | null }) => withState(of.userId).where('id', '=', of.ref))
const byIdentifier = prepared((of: { ref: string; userId: string | null }) =>
  withState(of.userId).where('identifier', '=', of.ref),
)
