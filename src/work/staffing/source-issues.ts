import type { NewAgent } from '../../organization/agent/agent.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { findIssue } from '../issue/queries.ts'

/**
 * Returns the ids of the issues that motivated an agent, each once.
 *
 * @throws AppError 422 if the company has no such issue
 */
export function sourceIssueIds(ctx: Context, companyId: string, want: NewAgent): string[] {
  const refs = [...(want.sourceIssueId ? [want.sourceIssueId] : []), ...(want.sourceIssueIds ?? [])]
  const ids = refs.map((ref) => {
    const issue = findIssue(ctx.db, ref)
    if (issue?.company_id === companyId) return issue.id
    const field = ref === want.sourceIssueId ? 'sourceIssueId' : 'sourceIssueIds'
    throw new AppError('semantic', `${field}: there is no issue ${ref} in this company.`, { field })
  })
  return [...new Set(ids)]
}
