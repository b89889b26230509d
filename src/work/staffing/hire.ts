import { recordActivity } from '../../access/activity/record.ts'
import { type AgentCaller, actorOf, type Caller } from '../../access/caller/caller.ts'
import { refuseLiteralSecrets } from '../../access/redaction/redact.ts'
import type { AgentRow, NewAgent, Permissions } from '../../organization/agent/agent.ts'
import { addAgent, type Identity } from '../../organization/agent/create.ts'
import { hasSubordinates } from '../../organization/agent/credentials.ts'
import { findAgent, listManagers } from '../../organization/agent/queries.ts'
import { isBudgetWithin } from '../../organization/agent/set-budget.ts'
import { findCompany } from '../../organization/company/queries.ts'
import { toCents, toMicros } from '../../organization/cost/money.ts'
import type { Context, ReadContext } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { ApprovalRow } from '../approval/approval.ts'
import { hirePayload, whatRuns } from '../approval/hire-payload.ts'
import { insertApproval, insertApprovalLink } from '../approval/queries.ts'
import { sourceIssueIds } from './source-issues.ts'

/**
 * Hires an agent. The agent waits for the board if the company requires
 * approval, or if the requesting agent sets a field that only the board may set.
 */
export function hireAgent(
  ctx: Context,
  caller: Caller,
  companyId: string,
  want: NewAgent,
  identity: Identity = {},
): { agent: AgentRow; approval: ApprovalRow | null } {
  if (caller.type === 'agent') {
    assertMayHire(ctx, caller)
    refuseLiteralSecrets(want.adapterConfig, 'adapterConfig')
  }
  const issueIds = sourceIssueIds(ctx, companyId, want)
  const hire = caller.type === 'agent' ? withHirersDefaults(ctx, caller, want) : want
  const status = statusOfHire(ctx, caller, companyId, hire)
  const agent = addAgent(ctx, caller, companyId, hire, { ...identity, status, source: 'hire' })
  const approval = status === 'idle' ? null : createHireApproval(ctx, caller, agent, issueIds)
  recordActivity(ctx, caller, {
    companyId,
    action: approval ? 'agent.hire_requested' : 'agent.hired',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, role: agent.role, sourceIssueIds: issueIds, approvalId: approval?.id ?? null },
  })
  return { agent, approval }
}

/** Returns the first status of an agent that is hired like this. */
export function statusOfHire(ctx: ReadContext, caller: Caller, companyId: string, want: NewAgent) {
  const hire = caller.type === 'agent' ? withHirersDefaults(ctx, caller, want) : want
  return needsApproval(ctx, caller, companyId, hire) ? 'pending_approval' : 'idle'
}

/**
 * Requests the board's approval of an agent that waits for it, with links to
 * the issues that motivated the hire.
 *
 * @param requester the agent that requests it, if it is not the caller
 */
export function createHireApproval(
  ctx: Context,
  caller: Caller,
  agent: AgentRow,
  issueIds: readonly string[],
  requester: Pick<ApprovalRow, 'requested_by_agent_id' | 'requested_by_user_id'> = requesterOf(caller),
): ApprovalRow {
  const approval = insertApproval(ctx.db, {
    id: uuid(),
    company_id: agent.company_id,
    type: 'hire_agent',
    ...requester,
    agent_id: agent.id,
    payload: JSON.stringify(hirePayload(ctx, agent)),
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  for (const issueId of issueIds) insertApprovalLink(ctx.db, { approvalId: approval.id, issueId })
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: 'approval.created',
    entity: { type: 'approval', id: approval.id },
    agentId: agent.id,
    details: { type: 'hire_agent', issueIds },
  })
  return approval
}

function requesterOf(caller: Caller) {
  const actor = actorOf(caller)
  return {
    requested_by_agent_id: actor.type === 'agent' ? actor.id : null,
    requested_by_user_id: actor.type === 'user' ? actor.id : null,
  }
}

/** Fills in the defaults of a hire by an agent: the new agent reports to it and has its budget. */
function withHirersDefaults(ctx: ReadContext, caller: AgentCaller, want: NewAgent): NewAgent {
  const own = findAgent(ctx.db, { id: caller.agentId })!.budget_micros
  return {
    ...want,
    reportsTo: want.reportsTo === undefined ? caller.agentId : want.reportsTo,
    budgetMonthlyCents: want.budgetMonthlyCents ?? toCents(own),
  }
}

/**
 * Whether a hire needs the approval of the board. It does if the company
 * requires it, or if the requesting agent sets a program to run, grants the
 * permissions of a CEO, or requests a larger budget than its own.
 */
function needsApproval(ctx: ReadContext, caller: Caller, companyId: string, want: NewAgent): boolean {
  if (findCompany(ctx.db, { id: companyId })!.require_board_approval_for_new_agents === 1) return true
  if (caller.type !== 'agent') return false
  const own = findAgent(ctx.db, { id: caller.agentId })!
  return (
    want.role === 'ceo' ||
    Object.keys(whatRuns(want)).length > 0 ||
    !isBudgetWithin(toMicros(want.budgetMonthlyCents ?? 0), own.budget_micros)
  )
}

/** Requires that an agent may hire: only managers and the CEO may. The error contains the name of a manager who can hire. */
function assertMayHire(ctx: Context, caller: AgentCaller): void {
  const { canCreateAgents }: Permissions = JSON.parse(findAgent(ctx.db, { id: caller.agentId })!.permissions)
  if (canCreateAgents === false) throw forbidden('The board has revoked your permission to hire. Ask the board.')
  if (caller.role === 'ceo' || hasSubordinates(ctx.db, { agentId: caller.agentId })) return
  const [manager] = listManagers(ctx.db, { agentId: caller.agentId })
  const request = manager ? `Ask your manager, ${manager.name} (${manager.id}).` : 'Ask the board.'
  throw forbidden(`Only managers, the CEO and the board may hire, and no agent reports to you. ${request}`, {
    managerId: manager?.id ?? null,
    managerName: manager?.name ?? null,
  })
}
