import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import type { IssueRow } from './issue.ts'
import { findIssue } from './queries.ts'

/** Gets an issue by its id or identifier. An issue of another company has the same error as a missing one. */
export function getIssue(ctx: Context, caller: Caller, ref: string): IssueRow {
  const issue = findIssue(ctx.db, ref)
  return requireVisible(ctx, caller, issue, 'issue', ref)
}
