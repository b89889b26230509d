import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller.ts'
import type { Context } from '../../platform/context.ts'
import { pauseForBudget as pauseAgentForBudget } from '../agent/budget.ts'
import { findAgent } from '../agent/queries.ts'
import { pauseCompanyForBudget } from '../company/pause.ts'
import { findCompany } from '../company/queries.ts'
import { toCents } from './money.ts'
import { agentSpend, agentUnpriced, companySpend } from './queries.ts'

/** From here on only the most important work is advised (contract, Limits). */
const WARNING_SHARE = 0.8

/**
 * Pauses an agent, or its whole company, that has nothing left to spend this
 * month: what runs is stopped, what waits goes on waiting. A budget of 0 is no
 * limit.
 *
 * @returns whether something is out of money
 */
export function enforceBudgets(ctx: Context, of: { companyId: string; agentId: string }): boolean {
  const company = findCompany(ctx.db, { id: of.companyId })!
  const agent = findAgent(ctx.db, { id: of.agentId })!
  const isAgentSpent = isSpent(agent.budget_micros, agentSpend(ctx.db, { ...of, now: ctx.now }))
  const isCompanySpent = isSpent(company.budget_micros, companySpend(ctx.db, { companyId: of.companyId, now: ctx.now }))
  if (isAgentSpent && (agent.status === 'idle' || agent.status === 'error')) pauseAgentForBudget(ctx, agent.id)
  if (isCompanySpent && company.status === 'active') pauseCompanyForBudget(ctx, company.id)
  return isAgentSpent || isCompanySpent
}

/** What an agent may still spend this month, by its own budget and its company's, in micro-dollars; null for no limit. */
export function leftToSpend(ctx: Context, of: { companyId: string; agentId: string }): number | null {
  const { budget_micros: ofCompany } = findCompany(ctx.db, { id: of.companyId })!
  const { budget_micros: ofAgent } = findAgent(ctx.db, { id: of.agentId })!
  const left: number[] = []
  if (ofAgent > 0) left.push(ofAgent - agentSpend(ctx.db, { ...of, now: ctx.now }))
  if (ofCompany > 0) left.push(ofCompany - companySpend(ctx.db, { companyId: of.companyId, now: ctx.now }))
  return left.length === 0 ? null : Math.max(0, Math.min(...left))
}

/** Says once in the activity that a cost took an agent or its company past 80 % of the budget. */
export function warnOfBudgets(ctx: Context, of: { companyId: string; agentId: string }, addedMicros: number): void {
  const company = findCompany(ctx.db, { id: of.companyId })!
  const agent = findAgent(ctx.db, { id: of.agentId })!
  const spentByAgent = agentSpend(ctx.db, { ...of, now: ctx.now })
  const spentByCompany = companySpend(ctx.db, { companyId: of.companyId, now: ctx.now })
  if (crosses(agent.budget_micros, spentByAgent, addedMicros)) {
    recordWarning(ctx, of.companyId, { type: 'agent', id: agent.id }, agent.budget_micros, spentByAgent)
  }
  if (crosses(company.budget_micros, spentByCompany, addedMicros)) {
    recordWarning(ctx, of.companyId, { type: 'company', id: company.id }, company.budget_micros, spentByCompany)
  }
}

/**
 * Says once a month in the activity that an agent's budget, or its company's,
 * cannot stop it, since nobody knows what its runs cost.
 *
 * @param unpriced how many costs without a price the run that has ended left
 */
export function warnOfUnpriced(ctx: Context, of: { companyId: string; agentId: string }, unpriced: number): void {
  const isFirst = unpriced > 0 && agentUnpriced(ctx.db, { ...of, now: ctx.now }) === unpriced
  if (!isFirst || leftToSpend(ctx, of) === null) return
  recordActivity(ctx, SYSTEM, {
    companyId: of.companyId,
    action: 'agent.costs_unpriced',
    entity: { type: 'agent', id: of.agentId },
    agentId: of.agentId,
    details: {
      message:
        'Nobody knows what its runs cost, so its budget does not stop it. Name a model with a known price in adapterConfig.model, or report the costs.',
    },
  })
}

/** Whether a budget is used up. */
export const isSpent = (budgetMicros: number, spentMicros: number) => budgetMicros > 0 && spentMicros >= budgetMicros

/** Whether a spend is in the warning zone or beyond. */
export const isNearlySpent = (budgetMicros: number, spentMicros: number) =>
  budgetMicros > 0 && spentMicros >= budgetMicros * WARNING_SHARE

const crosses = (budgetMicros: number, spentMicros: number, addedMicros: number) =>
  isNearlySpent(budgetMicros, spentMicros) && !isNearlySpent(budgetMicros, spentMicros - addedMicros)

const recordWarning = (
  ctx: Context,
  companyId: string,
  entity: { type: 'agent' | 'company'; id: string },
  budgetMicros: number,
  spentMicros: number,
) =>
  recordActivity(ctx, SYSTEM, {
    companyId,
    action: `${entity.type}.budget_warning`,
    entity,
    agentId: entity.type === 'agent' ? entity.id : null,
    details: { budgetMonthlyCents: toCents(budgetMicros), spentMonthlyCents: toCents(spentMicros) },
  })
