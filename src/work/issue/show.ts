import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { type Issue, type IssueRow, toIssue } from './issue.ts'
import { findRelations } from './relations.ts'
import { findUnread } from './unread.ts'

/** Returns issues in their public form, as the caller sees them. */
export function showIssues(ctx: Context, caller: Caller, rows: readonly IssueRow[]): (row: IssueRow) => Issue {
  const relationsOf = findRelations(ctx.db, rows)
  const isUnread = findUnread(ctx.db, caller, rows)
  return (row) => toIssue(row, { ...relationsOf(row.id), unread: isUnread(row.id) })
}

/** Returns an issue in its public form, as the caller sees it. */
export const showIssue = (ctx: Context, caller: Caller, row: IssueRow): Issue => showIssues(ctx, caller, [row])(row)
