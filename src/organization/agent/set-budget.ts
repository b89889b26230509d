import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { toCents, toDollars, toMicros } from '../cost/money.ts'
import type { AgentRow } from './agent.ts'
import { hasSpentBudget, pauseForBudget, resumeFromBudget } from './pause-for-budget.ts'
import { findAgent, isAbove, updateAgent } from './queries.ts'

/** Sets an agent's monthly budget, and pauses or resumes the agent accordingly. */
export function setBudget(ctx: Context, caller: Caller, agent: AgentRow, cents: number): void {
  assertMaySetBudget(ctx, caller, agent, cents)
  const budget = toMicros(cents)
  if (budget === agent.budget_micros) return
  updateAgent(ctx.db, agent.id, { budget_micros: budget, updated_at: ctx.now })
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: 'agent.budget_changed',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, fromCents: toCents(agent.budget_micros), toCents: cents },
  })
  ctx.afterCommit(() => ctx.signals.budgetChanged(agent.company_id))
  if (hasSpentBudget(ctx, { ...agent, budget_micros: budget })) pauseForBudget(ctx, agent.id)
  else resumeFromBudget(ctx, agent.id)
}

/**
 * Requires that the caller may set a budget: the board may set any, and a
 * manager may set those of the agents below it, up to its own budget.
 */
function assertMaySetBudget(ctx: Context, caller: Caller, agent: AgentRow, cents: number): void {
  if (caller.type !== 'agent') return
  if (!isAbove(ctx.db, { managerId: caller.agentId, agentId: agent.id })) {
    throw forbidden(`Only the board and the managers above ${agent.name} may set its budget.`)
  }
  const own = findAgent(ctx.db, { id: caller.agentId })!.budget_micros
  if (!isBudgetWithin(toMicros(cents), own)) {
    throw forbidden(
      `Your own budget is ${toDollars(own)} a month: set a budget from 1 to ${toCents(own)} cents. 0 would be no limit.`,
    )
  }
}

/** Whether a budget does not exceed another, in micro-dollars. 0 means no limit, which exceeds every budget. */
export const isBudgetWithin = (budget: number, other: number) => other === 0 || (budget > 0 && budget <= other)
