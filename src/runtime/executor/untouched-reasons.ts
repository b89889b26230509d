import { requeueReasons } from '../../organization/agent/request-wake.ts'
import { listChangedIssues } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import { parseReasons, type WakeReason, type WakeSource } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import { findIssue, isBlocked } from '../../work/issue/queries.ts'

/**
 * Queues another run for the reasons of an ended run that concern other issues
 * than its own, if the agent did nothing on those issues. Several reasons merge
 * into one wake, but a program mostly works on one issue in a run. Each of the
 * issues becomes the issue of at most one such run.
 *
 * A run that changed nothing queues none: its agent probably cannot work, for
 * example because its program was refused every tool.
 */
export function requeueUntouched(ctx: Context, run: RunRow): void {
  const isDone = run.status === 'succeeded' || run.stop_reason === 'cancelled' || run.stop_reason === 'closed'
  if (!isDone || run.idle === 1) return
  const others = parseReasons(run).filter(({ issueId }) => issueId !== null && issueId !== run.issue_id)
  if (others.length === 0) return
  const changed = new Set(listChangedIssues(ctx.db, { runId: run.id }))
  const untouched = others.filter((reason) => !changed.has(reason.issueId!) && stillApplies(ctx, run, reason))
  if (untouched.length > 0) requeueReasons(ctx, run, untouched)
}

/** The sources that concern the assignee of an issue only. */
const FOR_ASSIGNEE: ReadonlySet<WakeSource> = new Set(['issue_assigned', 'blockers_resolved', 'children_done'])

/** Whether the agent can still work on the issue of a reason. */
function stillApplies(ctx: Context, run: RunRow, { source, issueId }: WakeReason): boolean {
  const issue = findIssue(ctx.db, issueId!)
  if (!issue || !FOR_ASSIGNEE.has(source)) return issue !== undefined
  const isToDo = issue.status === 'todo' || issue.status === 'in_progress'
  return isToDo && issue.assignee_agent_id === run.agent_id && !isBlocked(ctx.db, issue)
}
