import { isDeepStrictEqual } from 'node:util'
import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import { type Json, redact } from '../../access/redaction/redact.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, unprocessable } from '../../platform/errors.ts'
import { activateHiredAgent, rejectHiredAgent } from './apply-hire.ts'
import type { ApprovalRow, Decision } from './approval.ts'
import { assertIsBoardRequest, chosenOption } from './board-request.ts'
import { assertHasPlan } from './create.ts'
import { allowFolder } from './folder.ts'
import { hirePayload, reviewPayload } from './hire-payload.ts'
import { type ApprovalStatus, assertTransition } from './lifecycle.ts'
import { listLinkedIssues } from './links.ts'
import { toStoredPayload } from './payload.ts'
import { findApproval, updateApproval } from './queries.ts'

/** Gets an approval. An approval of another company has the same error as a missing one. */
export function getApproval(ctx: Context, caller: Caller, id: string): ApprovalRow {
  const approval = findApproval(ctx.db, { id })
  return requireVisible(ctx, caller, approval, 'approval', id)
}

/**
 * Applies the board's decision and wakes the agent that requested it. Repeating
 * a decision is a no-op, so a client that lost the response may retry.
 */
export function decideApproval(
  ctx: Context,
  caller: Caller,
  id: string,
  to: 'approved' | 'rejected' | 'revision_requested',
  decision: Decision,
): ApprovalRow {
  const { decisionNote, allow } = decision
  const approval = getApproval(ctx, caller, id)
  if (approval.status === to) return approval
  assertTransition(approval, to)
  if (allow !== undefined && (approval.type !== 'allow_folder' || to !== 'approved')) {
    throw unprocessable('allow', 'is only for the approval of an allow_folder request')
  }
  const decided = updateApproval(ctx.db, id, {
    status: to,
    chosen_option: chosenOption(approval, to, decision),
    decision_note: decisionNote ?? null,
    decided_by_user_id: caller.type === 'board' ? caller.userId : null,
    decided_at: ctx.now,
    updated_at: ctx.now,
  })
  const activityId = record(ctx, caller, decided)
  if (decided.type === 'hire_agent' && to !== 'revision_requested') settleHire(ctx, caller, decided)
  if (decided.type === 'allow_folder' && to === 'approved') allowFolder(ctx, caller, decided, allow ?? 'once')
  // Without the folder the run would fail again.
  if (decided.type !== 'allow_folder' || to === 'approved') wakeRequester(ctx, caller, decided, activityId)
  return decided
}

/** Submits an approval again after the board requested a revision. */
export function resubmitApproval(
  ctx: Context,
  caller: Caller,
  id: string,
  payload: Record<string, unknown> | undefined,
): ApprovalRow {
  const approval = getApproval(ctx, caller, id)
  assertIsRequester(caller, approval, 'resubmits')
  if (approval.status === 'pending' && payload === undefined) return approval
  assertTransition(approval, 'pending')
  const resubmitted = updateApproval(ctx.db, id, {
    status: 'pending',
    ...(payload && { payload: revisedPayload(ctx, approval, payload) }),
    decision_note: null,
    decided_by_user_id: null,
    decided_at: null,
    updated_at: ctx.now,
  })
  record(ctx, caller, resubmitted)
  return resubmitted
}

/** Cancels an approval. Cancelling a hire terminates its agent, which never ran. */
export function cancelApproval(ctx: Context, caller: Caller, id: string): ApprovalRow {
  const approval = getApproval(ctx, caller, id)
  assertIsRequester(caller, approval, 'cancels')
  if (approval.status === 'cancelled') return approval
  assertTransition(approval, 'cancelled')
  const cancelled = updateApproval(ctx.db, id, { status: 'cancelled', updated_at: ctx.now })
  record(ctx, caller, cancelled)
  if (cancelled.type === 'hire_agent') settleHire(ctx, caller, cancelled)
  return cancelled
}

function assertIsRequester(caller: Caller, approval: ApprovalRow, does: string): void {
  if (caller.type !== 'agent' || caller.agentId === approval.requested_by_agent_id) return
  throw forbidden(`Only the agent that requested an approval, and the board, may ${does} it.`)
}

function settleHire(ctx: Context, caller: Caller, approval: ApprovalRow): void {
  if (approval.agent_id === null) return
  const isPending = findAgent(ctx.db, { id: approval.agent_id })?.status === 'pending_approval'
  // An agent that no longer waits needs no rejection. Approving one is an error, which `apply` reports.
  if (approval.status !== 'approved' && !isPending) return
  if (approval.status === 'approved') activateHiredAgent(ctx, caller, approval.agent_id, JSON.parse(approval.payload))
  else rejectHiredAgent(ctx, caller, approval.agent_id)
}

function wakeRequester(ctx: Context, caller: Caller, approval: ApprovalRow, activityId: string): void {
  if (approval.requested_by_agent_id === null) return
  requestWake(ctx, caller, {
    agentId: approval.requested_by_agent_id,
    source: 'approval_resolved',
    approvalId: approval.id,
    issueId: listLinkedIssues(ctx.db, { approvalId: approval.id })[0]?.id ?? null,
    cause: { activityId },
  })
}

/**
 * Returns the payload after a revision. The agent of a hire exists already, so
 * its description must not change: otherwise the board would approve something
 * else. The same applies to a folder. Only the fields that the requester added,
 * such as its reasons, are replaced.
 */
function revisedPayload(ctx: Context, approval: ApprovalRow, want: Record<string, unknown>): string {
  if (approval.type === 'approve_ceo_strategy') assertHasPlan(want)
  if (approval.type === 'request_board_approval') assertIsBoardRequest(want)
  if (approval.agent_id === null) return toStoredPayload(want)
  const isHire = approval.type === 'hire_agent'
  const fixed: Json = isHire
    ? hirePayload(ctx, findAgent(ctx.db, { id: approval.agent_id })!)
    : JSON.parse(approval.payload)
  const displayed = [
    redact(fixed),
    ...(isHire ? [reviewPayload(ctx, { ...approval, agent_id: approval.agent_id }, fixed)] : []),
  ]
  const other = Object.keys(fixed).filter((key) => key in want && !displayed.some((one) => isSame(want[key], one[key])))
  if (other.length > 0) {
    const what = isHire ? 'The agent of this hire exists' : 'This folder exists'
    throw new AppError(
      'semantic',
      `${what} as it was asked for, so ${other.join(', ')} cannot be revised here. Cancel this approval and ${isHire ? 'hire' : 'run'} again.`,
      { fields: other.map((key) => ({ path: `payload.${key}`, message: 'cannot be revised' })) },
    )
  }
  return toStoredPayload(want, fixed)
}

const isSame = (a: unknown, b: unknown) => isDeepStrictEqual(a, JSON.parse(JSON.stringify(b ?? null)))

const ACTIONS: Record<ApprovalStatus, Action> = {
  pending: 'approval.resubmitted',
  revision_requested: 'approval.revision_requested',
  approved: 'approval.approved',
  rejected: 'approval.rejected',
  cancelled: 'approval.cancelled',
}

const record = (ctx: Context, caller: Caller, approval: ApprovalRow) =>
  recordActivity(ctx, caller, {
    companyId: approval.company_id,
    action: ACTIONS[approval.status],
    entity: { type: 'approval', id: approval.id },
    agentId: approval.requested_by_agent_id,
    details: {
      type: approval.type,
      ...(approval.chosen_option !== null && { chosenOption: approval.chosen_option }),
      ...(approval.decision_note !== null && { decisionNote: approval.decision_note }),
    },
  })
