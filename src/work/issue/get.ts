import { type Caller, isOfCompany } from '../../access/caller.ts'
import type { Context } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { type Issue, type IssueRow, toIssue } from './issue.ts'
import { findIssue } from './queries.ts'
import { findRelations } from './relations.ts'

/** Gets the issue that an id or an identifier means. One of another company is as unknown as one that is nowhere. */
export function getIssue(ctx: Context, caller: Caller, ref: string): IssueRow {
  const issue = findIssue(ctx.db, ref)
  if (!issue || !isOfCompany(caller, issue.company_id)) throw notFound('issue', ref)
  return issue
}

/** An issue as the API shows it, its relations read. */
export const showIssue = (ctx: Context, row: IssueRow): Issue => toIssue(row, findRelations(ctx.db, [row])(row.id))
