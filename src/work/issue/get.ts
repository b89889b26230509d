import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import { type Issue, type IssueRow, toIssue } from './issue.ts'
import { findIssue } from './queries.ts'
import { findRelations } from './relations.ts'

/** Gets the issue that an id or an identifier means. One of another company is as unknown as one that is nowhere. */
export function getIssue(ctx: Context, caller: Caller, ref: string): IssueRow {
  const issue = findIssue(ctx.db, ref)
  return requireVisible(ctx, caller, issue, 'issue', ref)
}

/** An issue as the API shows it, its relations read. */
export const showIssue = (ctx: Context, row: IssueRow): Issue => toIssue(row, findRelations(ctx.db, [row])(row.id))
