import type { Context } from '../../platform/context.ts'
import { pauseForBudget as pauseAgentForBudget } from '../agent/pause-for-budget.ts'
import { findAgent } from '../agent/queries.ts'
import { pauseCompanyForBudget } from '../company/pause.ts'
import { findCompany } from '../company/queries.ts'
import { type Budget, isSpent, remaining } from '../cost/budget-status.ts'
import { agentSpend, companySpend } from '../cost/queries.ts'

/** An agent and its company: a cost counts against the budgets of both. */
export interface Spender {
  companyId: string
  agentId: string
}

/** Returns the budgets that limit an agent: its own and its company's, each with the spend of this month. */
export function budgetsOf(ctx: Context, { companyId, agentId }: Spender): { agent: Budget; company: Budget } {
  const { now } = ctx
  return {
    agent: {
      budgetMicros: findAgent(ctx.db, { id: agentId })!.budget_micros,
      spentMicros: agentSpend(ctx.db, { companyId, agentId, now }),
    },
    company: {
      budgetMicros: findCompany(ctx.db, { id: companyId })!.budget_micros,
      spentMicros: companySpend(ctx.db, { companyId, now }),
    },
  }
}

/**
 * Pauses an agent, or its whole company, if its budget for this month is spent.
 * The pause stops the live runs; waiting wakes continue to wait.
 *
 * @returns whether a budget is spent
 */
export function enforceBudgets(ctx: Context, spender: Spender): boolean {
  const { agent, company } = budgetsOf(ctx, spender)
  const isAgentSpent = isSpent(agent.budgetMicros, agent.spentMicros)
  const isCompanySpent = isSpent(company.budgetMicros, company.spentMicros)
  if (isAgentSpent) pauseAgentForBudget(ctx, spender.agentId)
  if (isCompanySpent) pauseCompanyForBudget(ctx, spender.companyId)
  return isAgentSpent || isCompanySpent
}

/** Returns the remaining amount of both budgets of an agent for this month, in micro-dollars; null if neither has a limit. */
export function leftToSpend(ctx: Context, spender: Spender): number | null {
  const { agent, company } = budgetsOf(ctx, spender)
  const limits = [remaining(agent), remaining(company)].filter((limit) => limit !== null)
  return limits.length === 0 ? null : Math.min(...limits)
}
