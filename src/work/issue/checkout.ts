import { actorOf, type Caller } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { assertAgentReady } from '../../organization/agent/readiness.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import { findLiveRunOnIssue, setRunIssue } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, invalid } from '../../platform/errors.ts'
import { wakeForIssue } from './assignment.ts'
import { assertNotBlocked, withdrawWakeOfUnblocked } from './blockers.ts'
import { getIssue } from './get.ts'
import type { CheckoutBody, IssueRow } from './issue.ts'
import { CHECKED_OUT_FROM, isTerminal } from './lifecycle.ts'
import { claimIssue, isBlocked } from './queries.ts'
import { recordIssue } from './record.ts'
import { assigneeName } from './rights.ts'
import { assertStrategyApproved } from './strategy.ts'

/**
 * Checks an issue out to an agent: the agent becomes its assignee, and the
 * issue is in progress. If the agent already has it in progress, nothing
 * changes, so a client that lost the response may retry. An agent cannot check
 * out an issue with open blockers; the board can, for any agent.
 */
export function checkoutIssue(ctx: Context, caller: Caller, ref: string, want: CheckoutBody): IssueRow {
  const issue = getIssue(ctx, caller, ref)
  const agent = agentOf(ctx, caller, issue, want.agentId)
  if (issue.status === 'in_progress' && issue.assignee_agent_id === agent.id) {
    noteRun(ctx, caller, issue)
    return issue
  }
  assertAgentReady(ctx, agent)
  assertStrategyApproved(ctx, caller)
  const wasBlocked = isBlocked(ctx.db, issue)

  const expected = want.expectedStatuses ?? CHECKED_OUT_FROM
  const from = expected.filter((status) => status === 'backlog' || CHECKED_OUT_FROM.includes(status))
  const claimed = claimIssue(ctx.db, issue, { agentId: agent.id, from, by: actorOf(caller), at: ctx.now })
  if (!claimed) throw refusal(ctx, issue, agent, expected)
  assertNotBlocked(ctx, caller, issue)

  if (issue.status === 'backlog') {
    recordIssue(ctx, caller, 'issue.updated', claimed, { changes: { status: { from: 'backlog', to: 'todo' } } })
  }
  const activityId = recordIssue(ctx, caller, 'issue.checked_out', claimed, {
    from: issue.status === 'backlog' ? 'todo' : issue.status,
    assigneeAgentId: agent.id,
  })
  noteRun(ctx, caller, claimed)
  if (caller.type === 'agent') withdrawWakeOfUnblocked(ctx, claimed)
  // The assignee of a blocked issue was not woken before. The board starts the issue here.
  if (issue.assignee_agent_id !== agent.id || wasBlocked) wakeForIssue(ctx, caller, claimed, activityId)
  return claimed
}

/** Returns the agent that the issue is checked out to. An agent may name only itself, the board any agent. */
function agentOf(ctx: Context, caller: Caller, issue: IssueRow, ref: string | undefined): AgentRow {
  if (ref === undefined && caller.type !== 'agent') throw invalid([{ path: 'agentId', message: 'is required' }])
  const agent = getReferredAgent(
    ctx,
    issue.company_id,
    'agentId',
    ref ?? (caller.type === 'agent' ? caller.agentId : ''),
  )
  if (caller.type === 'agent' && agent.id !== caller.agentId) {
    throw forbidden(
      `You may check out issues only for yourself, not for ${agent.name}. Assign the issue to that agent instead.`,
    )
  }
  return agent
}

/** Records that the run of the caller works on the issue. */
function noteRun(ctx: Context, caller: Caller, issue: IssueRow): void {
  if (caller.type === 'agent' && caller.runId !== null) {
    setRunIssue(ctx.db, { runId: caller.runId, issueId: issue.id })
  }
}

/** Returns the error for an issue that cannot be checked out: its status, or its assignee. */
function refusal(ctx: Context, issue: IssueRow, agent: AgentRow, expected: readonly IssueRow['status'][]): AppError {
  if (isTerminal(issue.status)) return atItsEnd(issue, expected)
  const details = holderOf(ctx, issue)
  const isOthers = issue.assignee_user_id !== null || (issue.assignee_agent_id ?? agent.id) !== agent.id
  if (isOthers) {
    const run = details.runLive ? ', whose run is working on it' : ''
    return new AppError(
      'issue_taken',
      `${issue.identifier} is ${issue.status} and belongs to ${details.assigneeName}${run}. Choose another issue.`,
      details,
    )
  }
  return new AppError(
    'status_not_expected',
    `${issue.identifier} is ${issue.status}, but the request expected ${expected.join(' or ')}.`,
    { ...details, expectedStatuses: expected, hint: 'Read the issue again before you send other expectedStatuses.' },
  )
}

function atItsEnd(issue: IssueRow, expected: readonly IssueRow['status'][]): AppError {
  if (expected.includes(issue.status)) {
    return new AppError(
      'invalid_transition',
      `${issue.identifier} is ${issue.status}, so it cannot be checked out. PATCH it with \`reopen: true\` first.`,
      { from: issue.status, to: 'in_progress', allowed: [] },
    )
  }
  return new AppError('status_not_expected', `${issue.identifier} is ${issue.status}. Choose another issue.`, {
    issueId: issue.id,
    status: issue.status,
    expectedStatuses: expected,
  })
}

/** Returns who holds an issue, since when, and whether a live run of that agent works on it. */
function holderOf(ctx: Context, issue: IssueRow) {
  const run =
    issue.assignee_agent_id === null
      ? undefined
      : findLiveRunOnIssue(ctx.db, { issueId: issue.id, agentId: issue.assignee_agent_id })
  return {
    issueId: issue.id,
    status: issue.status,
    assigneeAgentId: issue.assignee_agent_id,
    assigneeUserId: issue.assignee_user_id,
    assigneeName: assigneeName(ctx, issue),
    runId: run?.id ?? null,
    runLive: run !== undefined,
    since: sinceOf(issue),
    hint: 'Do not retry: choose another issue, or leave a comment for the owner.',
  }
}

/** Returns when the current assignee got the issue, or started it if that was later. */
function sinceOf({ status, assigned_at, started_at }: IssueRow): string | null {
  const startedLater = status === 'in_progress' && (started_at ?? '') > (assigned_at ?? '')
  return startedLater ? started_at : assigned_at
}
