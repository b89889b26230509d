import { publishEvent } from '../../access/activity/live-events.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { isSpent } from '../cost/budget-status.ts'
import { toCents, toMicros } from '../cost/money.ts'
import { companySpend, insertCostEvent } from '../cost/queries.ts'
import { pauseCompanyForBudget, resumeCompanyFromBudget } from './pause.ts'
import { findCompany } from './queries.ts'

/** Pauses or resumes a company according to its budget and its spend, and notifies the runtime and live clients. */
export function applyBudget(ctx: Context, companyId: string): void {
  const { budget_micros } = findCompany(ctx.db, { id: companyId })!
  if (isSpent(budget_micros, companySpend(ctx.db, { companyId, now: ctx.now }))) pauseCompanyForBudget(ctx, companyId)
  else resumeCompanyFromBudget(ctx, companyId)
  ctx.afterCommit(() => {
    ctx.signals.budgetChanged(companyId)
    publishEvent(ctx, companyId, 'company.budget_changed', () => ({ companyId }))
  })
}

/**
 * Corrects the spend of a company in this month to the amount that the board
 * sets, by a cost event for the difference, so that the total equals the sum of
 * the events to the micro-dollar. The displayed (rounded) amount is a no-op.
 *
 * @returns whether an event was recorded
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
