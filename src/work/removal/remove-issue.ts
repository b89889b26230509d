import type { Caller } from '../../access/caller/caller.ts'
import { deleteAssetRow } from '../../organization/asset/queries.ts'
import { removeAssetFiles } from '../../organization/asset/store.ts'
import { listLiveRuns } from '../../organization/run/queries.ts'
import { requestStop } from '../../organization/run/stop.ts'
import { WAKE_SOURCES } from '../../organization/wake/wake.ts'
import { withdrawReasons } from '../../organization/wake/withdraw.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { listAttachments } from '../attachment/queries.ts'
import { getIssue } from '../issue/get.ts'
import type { Issue, IssueRow } from '../issue/issue.ts'
import { isTerminal } from '../issue/lifecycle.ts'
import { deleteIssueRow, hasChild, updateIssueRow } from '../issue/queries.ts'
import { recordIssue } from '../issue/record.ts'
import { showIssue } from '../issue/show.ts'
import { statusWithTimes, wakeDependents } from '../issue/transition.ts'

/**
 * Deletes an issue with its comments, documents and files. The activity and the
 * cost events of the issue are not deleted. Live runs on it stop. For the issues
 * that wait for it, and for its parent, it counts as cancelled.
 *
 * @returns the issue as it was
 * @throws AppError 409 if it has sub-issues
 */
export async function deleteIssue(ctx: Context, caller: Caller, ref: string): Promise<Issue> {
  const { shown: displayed, fileIds } = await ctx.write(() => {
    const issue = getIssue(ctx, caller, ref)
    assertNoChild(ctx, issue)
    const displayed = showIssue(ctx, caller, issue)
    const fileIds = listAttachments(ctx.db, { issueId: issue.id }).map((file) => file.id)
    const { identifier, title, status } = issue
    const activityId = recordIssue(ctx, caller, 'issue.deleted', issue, { identifier, title, status })
    for (const run of listLiveRuns(ctx.db, { issueId: issue.id })) requestStop(ctx, run.id, 'cancelled')
    if (issue.assignee_agent_id !== null) {
      const of = { agentId: issue.assignee_agent_id, issueId: issue.id }
      withdrawReasons(ctx, { ...of, sources: WAKE_SOURCES, because: 'issue deleted' })
    }
    if (!isTerminal(issue.status)) {
      const ended = updateIssueRow(ctx.db, issue.id, statusWithTimes('cancelled', ctx.now))
      wakeDependents(ctx, caller, ended, activityId)
    }
    for (const id of fileIds) deleteAssetRow(ctx.db, id)
    deleteIssueRow(ctx.db, { id: issue.id })
    return { shown: displayed, fileIds }
  })
  await removeAssetFiles(ctx, fileIds)
  return displayed
}

function assertNoChild(ctx: Context, issue: IssueRow): void {
  if (!hasChild(ctx.db, { parentId: issue.id })) return
  throw new AppError('conflict', `${issue.identifier} has sub-issues. Delete them first, or give them another parent.`)
}
