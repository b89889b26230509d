import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import * as field from '../../http/fields.ts'
import { findLiveRunOnIssue } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { contextOf, ISSUE_CONTEXT } from './context.ts'
import { Issue, type IssueRow } from './issue.ts'
import { getShownIssue } from './show.ts'

/** An issue as the response for one issue returns it. */
export const IssueDetail = v.strictObject({
  ...Issue.entries,
  ...ISSUE_CONTEXT,
  activeRun: v.pipe(
    v.nullable(v.strictObject({ id: field.id, agentId: field.id, startedAt: v.nullable(field.timestamp) })),
    v.description("The assignee's live run on the issue."),
  ),
})

/** Gets an issue by its id or identifier, with its context. */
export function getIssueDetail(ctx: Context, caller: Caller, ref: string): v.InferOutput<typeof IssueDetail> {
  const { row, issue } = getShownIssue(ctx, caller, ref)
  return { ...issue, ...contextOf(ctx, row), activeRun: activeRunOf(ctx, row) }
}

function activeRunOf(ctx: Context, issue: IssueRow) {
  if (issue.assignee_agent_id === null) return null
  const run = findLiveRunOnIssue(ctx.db, { issueId: issue.id, agentId: issue.assignee_agent_id })
  return run ? { id: run.id, agentId: run.agent_id, startedAt: run.started_at } : null
}
