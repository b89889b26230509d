import { recordActivity } from '../../access/activity/record.ts'
import { type Caller, SYSTEM } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { isSpent } from '../cost/budget.ts'
import { toCents, toMicros } from '../cost/money.ts'
import { agentSpend } from '../cost/queries.ts'
import type { AgentRow } from './agent.ts'
import { isReady } from './lifecycle.ts'
import { activateAgent, pauseAgent } from './pause.ts'
import { findAgent, isAbove, updateAgent } from './queries.ts'

/**
 * Pauses an agent because its budget is spent: its live runs are stopped, its
 * wakes wait. Changes nothing for one that cannot work anyway.
 *
 * @returns whether it was paused by this call
 */
export function pauseForBudget(ctx: Context, agentId: string): boolean {
  const agent = findAgent(ctx.db, { id: agentId })
  if (!agent || !isReady(agent.status)) return false
  const message = `The budget of ${toCents(agent.budget_micros)} cents for this month is spent. Raise it, or wait for the next month.`
  pauseAgent(ctx, SYSTEM, agent, { reason: 'budget', message })
  return true
}

/**
 * Lets an agent work again that was paused for its budget, if there is some
 * of it left: after it was raised, or in a month that is young.
 *
 * @returns whether it was resumed by this call
 */
export function resumeFromBudget(ctx: Context, agentId: string): boolean {
  const agent = findAgent(ctx.db, { id: agentId })
  if (agent?.status !== 'paused' || agent.pause_reason !== 'budget') return false
  if (hasSpentBudget(ctx, agent)) return false
  activateAgent(ctx, SYSTEM, agent)
  return true
}

/** Sets an agent's monthly budget, and pauses or resumes it as the new one asks. */
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

const hasSpentBudget = (ctx: Context, agent: AgentRow): boolean =>
  isSpent(agent.budget_micros, agentSpend(ctx.db, { companyId: agent.company_id, agentId: agent.id, now: ctx.now }))

/** The board sets any budget; a manager those of its own subtree, within its own budget. */
function assertMaySetBudget(ctx: Context, caller: Caller, agent: AgentRow, cents: number): void {
  if (caller.type !== 'agent') return
  if (!isAbove(ctx.db, { managerId: caller.agentId, agentId: agent.id })) {
    throw forbidden(`Only the board and the managers above ${agent.name} may set its budget.`)
  }
  const own = findAgent(ctx.db, { id: caller.agentId })!.budget_micros
  if (!isWithin(toMicros(cents), own)) {
    throw forbidden(`Your own budget is ${toCents(own)} cents: set one from 1 to that. 0 would be no limit.`)
  }
}

/** Whether a budget is no larger than another, in micro-dollars; 0 is no limit, and larger than any. */
export const isWithin = (budget: number, other: number) => other === 0 || (budget > 0 && budget <= other)
