import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { findCompany } from '../company/queries.ts'
import { isSpent } from '../cost/budget-status.ts'
import { toCents } from '../cost/money.ts'
import { agentSpend, companySpend } from '../cost/queries.ts'
import type { AgentRow } from './agent.ts'

/**
 * Refuses an agent that cannot take up work: the agent is paused, not yet
 * approved or terminated, its company is paused or stopped, or the budget of
 * either is spent.
 *
 * @throws AppError 422 `agent_not_ready` or `budget_exceeded`
 */
export function assertAgentReady(ctx: Context, agent: AgentRow): void {
  const why = NOT_READY[agent.status]
  if (why !== undefined) {
    throw new AppError('agent_not_ready', `${agent.name} ${why}.`, { agentId: agent.id, status: agent.status })
  }
  assertCompanyReady(ctx, agent)
  if (agent.budget_micros === 0) return
  const spent = agentSpend(ctx.db, { companyId: agent.company_id, agentId: agent.id, now: ctx.now })
  if (!isSpent(agent.budget_micros, spent)) return
  throw new AppError(
    'budget_exceeded',
    `${agent.name} has spent its budget for this month. Ask the board to raise it.`,
    {
      agentId: agent.id,
      budgetMonthlyCents: toCents(agent.budget_micros),
      spentMonthlyCents: toCents(spent),
    },
  )
}

function assertCompanyReady(ctx: Context, agent: AgentRow): void {
  const company = findCompany(ctx.db, { id: agent.company_id })!
  const spent = company.budget_micros === 0 ? 0 : companySpend(ctx.db, { companyId: company.id, now: ctx.now })
  if (isSpent(company.budget_micros, spent)) {
    throw new AppError(
      'budget_exceeded',
      `${company.name} has spent its budget for this month, so its agents cannot work. Ask the board to raise it.`,
      {
        companyId: company.id,
        budgetMonthlyCents: toCents(company.budget_micros),
        spentMonthlyCents: toCents(spent),
      },
    )
  }
  if (company.status === 'active' && company.stopped_at === null) return
  const state = company.status === 'active' ? 'stopped' : company.status
  throw new AppError('agent_not_ready', `${company.name} is ${state}, so its agents cannot work.`, {
    companyId: company.id,
    companyStatus: state,
  })
}

const NOT_READY: Partial<Record<AgentRow['status'], string>> = {
  paused: 'is paused; the board can resume it',
  pending_approval: 'waits for the approval of the board',
  terminated: 'is terminated',
}
