import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { Figures } from '../../organization/cost/cost.ts'
import { toFigures } from '../../organization/cost/totals.ts'
import type { Context } from '../../platform/context.ts'
import type { IssueRow } from '../issue/issue.ts'
import { sumOfIssues } from './queries.ts'

/** What an issue cost since its creation. */
export const CostOfOneIssue = v.strictObject({
  issueId: field.id,
  identifier: v.string(),
  own: v.pipe(v.strictObject(Figures), v.description('The cost of the issue itself.')),
  withSubIssues: v.pipe(
    v.strictObject({ issueCount: field.integer, ...Figures }),
    v.description('The cost of the issue and of all issues below it.'),
  ),
})

export function costsOfIssue(ctx: Context, issue: IssueRow): v.InferOutput<typeof CostOfOneIssue> {
  const { issues, ...all } = sumOfIssues(ctx.db, { issueId: issue.id, isDeep: true })
  const { issues: _, ...own } = sumOfIssues(ctx.db, { issueId: issue.id, isDeep: false })
  return {
    issueId: issue.id,
    identifier: issue.identifier,
    own: toFigures(own),
    withSubIssues: { issueCount: issues, ...toFigures(all) },
  }
}
