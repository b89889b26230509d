import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { hasSubordinates } from '../../organization/agent/credentials.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, invalid, unprocessable } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { ApprovalRow, NewApproval } from './approval.ts'
import { assertIsBoardRequest } from './board-request.ts'
import { hirePayload } from './hire-payload.ts'
import { linkIssues } from './links.ts'
import { toStoredPayload } from './payload.ts'
import { findCeo, findOpenHire, insertApproval } from './queries.ts'

/**
 * Requests an approval of the board. An agent requests it for itself. A hire is
 * normally requested with its agent, through `agent-hires`. A hire that is
 * requested here without an `agentId` in its payload is only a question: it
 * creates no agent.
 */
export function createApproval(ctx: Context, caller: Caller, companyId: string, want: NewApproval): ApprovalRow {
  const requester = requesterOf(ctx, caller, companyId, want)
  if (want.type === 'approve_ceo_strategy') assertHasPlan(want.payload)
  if (want.type === 'request_board_approval') assertIsBoardRequest(want.payload)
  const hired = want.type === 'hire_agent' ? hiredAgentOf(ctx, companyId, want.payload) : undefined
  const approval = insertApproval(ctx.db, {
    id: uuid(),
    company_id: companyId,
    type: want.type,
    requested_by_agent_id: requester?.id ?? null,
    requested_by_user_id: caller.type === 'board' ? caller.userId : null,
    agent_id: hired?.id ?? null,
    // For an existing agent, the payload contains its stored data instead of the data of the request.
    payload: toStoredPayload(want.payload, hired && hirePayload(ctx, hired)),
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  linkIssues(ctx, approval, 'issueIds', want.issueIds ?? [])
  recordActivity(ctx, caller, {
    companyId,
    action: 'approval.created',
    entity: { type: 'approval', id: approval.id },
    details: { type: approval.type, ...(typeof want.payload.title === 'string' && { title: want.payload.title }) },
  })
  return approval
}

/**
 * Returns the agent that requests the approval. An agent may request only for
 * itself. The board may request for any agent, or for none. Only the CEO may
 * submit a strategy. Any agent may send a request to the board.
 */
function requesterOf(ctx: Context, caller: Caller, companyId: string, want: NewApproval): AgentRow | undefined {
  const ref = want.requestedByAgentId ?? (caller.type === 'agent' ? caller.agentId : undefined)
  const named = ref === undefined ? undefined : getReferredAgent(ctx, companyId, 'requestedByAgentId', ref)
  if (caller.type === 'agent' && named?.id !== caller.agentId) {
    throw forbidden('An agent may request approvals only for itself. Omit requestedByAgentId.')
  }
  if (want.type === 'hire_agent') {
    if (caller.type === 'agent') assertMayRequestHire(ctx, caller)
    return named
  }
  if (want.type === 'request_board_approval') return named
  if (caller.type === 'agent' && caller.role !== 'ceo') throw forbidden('Only the CEO agent may propose the strategy.')
  if (named && named.role !== 'ceo') throw unprocessable('requestedByAgentId', 'must be the CEO agent for a strategy')
  return named ?? findCeo(ctx.db, { companyId })
}

function assertMayRequestHire(ctx: Context, caller: { agentId: string; role: string }): void {
  if (caller.role === 'ceo' || hasSubordinates(ctx.db, { agentId: caller.agentId })) return
  throw forbidden('Only managers, the CEO agent and the board may request hires. Ask your manager.')
}

/** Refuses a strategy without a plan. */
export function assertHasPlan(payload: Record<string, unknown>): void {
  const { plan } = payload
  const isGiven = typeof plan === 'string' ? plan.trim() !== '' : typeof plan === 'object' && plan !== null
  if (!isGiven)
    throw invalid([{ path: 'payload.plan', message: 'is required: the plan for the approval of the board' }])
}

/** Returns the pending agent that the payload of a hire names, if it names one. */
function hiredAgentOf(ctx: Context, companyId: string, payload: Record<string, unknown>) {
  const { agentId } = payload
  if (agentId === undefined || agentId === null) return undefined
  if (typeof agentId !== 'string') throw invalid([{ path: 'payload.agentId', message: 'must be an agent id' }])
  const agent = getReferredAgent(ctx, companyId, 'payload.agentId', agentId)
  if (agent.status !== 'pending_approval')
    throw unprocessable('payload.agentId', `this agent is already ${agent.status}`)
  const open = findOpenHire(ctx.db, { agentId: agent.id })
  if (open) {
    throw new AppError('conflict', 'The hire of this agent already has a pending approval.', { approvalId: open.id })
  }
  return agent
}
