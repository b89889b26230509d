import { v7 as uuid } from 'uuid'
import type { Context } from '../../platform/context.ts'
import { isSpent } from '../cost/budget.ts'
import { toCents, toMicros } from '../cost/money.ts'
import { companySpend, insertCostEvent } from '../cost/queries.ts'
import { pauseCompanyForBudget, resumeCompanyFromBudget } from './pause.ts'
import { findCompany } from './queries.ts'

/** Pauses or resumes a company as its budget and its spend ask, and tells those who wait on either. */
export function settleBudget(ctx: Context, companyId: string): void {
  const { budget_micros } = findCompany(ctx.db, { id: companyId })!
  if (isSpent(budget_micros, companySpend(ctx.db, { companyId, now: ctx.now }))) pauseCompanyForBudget(ctx, companyId)
  else resumeCompanyFromBudget(ctx, companyId)
  ctx.afterCommit(() => {
    ctx.signals.budgetChanged(companyId)
    ctx.events.publish(companyId, 'company.budget_changed', () => ({ companyId }))
  })
}

/**
 * Brings this month's figure of a company to what the board says it is, by a
 * cost event over the difference, so that the figure and the events agree to
 * the micro-dollar. A figure that is shown already, rounded, changes nothing.
 *
 * @returns whether something was booked
 */
export function correctSpend(ctx: Context, companyId: string, cents: number): boolean {
  const booked = companySpend(ctx.db, { companyId, now: ctx.now })
  if (toCents(booked) === cents) return false
  insertCostEvent(ctx.db, {
    id: uuid(),
    company_id: companyId,
    provider: 'service',
    model: 'correction',
    cost_micros: toMicros(cents) - booked,
    cost_status: 'reported',
    occurred_at: ctx.now,
    created_at: ctx.now,
  })
  return true
}
