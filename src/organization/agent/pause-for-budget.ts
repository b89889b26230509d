import { SYSTEM } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { isSpent } from '../cost/budget-status.ts'
import { toDollars } from '../cost/money.ts'
import { agentSpend } from '../cost/queries.ts'
import type { AgentRow } from './agent.ts'
import { isReady } from './lifecycle.ts'
import { activateAgent, pauseAgent } from './pause.ts'
import { findAgent } from './queries.ts'

/**
 * Pauses an agent because its budget is spent: its live runs stop, and its
 * wakes wait. A no-op for an agent that cannot work anyway.
 *
 * @returns whether this call paused it
 */
export function pauseForBudget(ctx: Context, agentId: string): boolean {
  const agent = findAgent(ctx.db, { id: agentId })
  if (!agent || !isReady(agent.status)) return false
  const message = `Its budget of ${toDollars(agent.budget_micros)} for this month is spent. Raise it, or wait for the next month.`
  pauseAgent(ctx, SYSTEM, agent, { reason: 'budget', message })
  return true
}

/**
 * Resumes an agent that was paused for its budget, if the budget is no longer
 * spent: after a raise, or in a new month.
 *
 * @returns whether this call resumed it
 */
export function resumeFromBudget(ctx: Context, agentId: string): boolean {
  const agent = findAgent(ctx.db, { id: agentId })
  if (agent?.status !== 'paused' || agent.pause_reason !== 'budget') return false
  if (hasSpentBudget(ctx, agent)) return false
  activateAgent(ctx, SYSTEM, agent)
  return true
}

export const hasSpentBudget = (ctx: Context, agent: AgentRow): boolean =>
  isSpent(agent.budget_micros, agentSpend(ctx.db, { companyId: agent.company_id, agentId: agent.id, now: ctx.now }))
