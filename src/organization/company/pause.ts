import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { isSpent } from '../cost/budget-status.ts'
import { companySpend } from '../cost/queries.ts'
import { requestStops } from '../run/stop.ts'
import { findCompany, updateCompany } from './queries.ts'

/** Pauses a company because its budget is spent: its runs stop, and its wakes wait. */
export function pauseCompanyForBudget(ctx: Context, companyId: string): void {
  const company = findCompany(ctx.db, { id: companyId })
  if (company?.status !== 'active') return
  updateCompany(ctx.db, companyId, {
    status: 'paused',
    pause_reason: 'budget',
    paused_at: ctx.now,
    updated_at: ctx.now,
  })
  record(ctx, companyId, 'company.paused')
  requestStops(ctx, { companyId }, 'budget')
}

/**
 * Resumes a company that was paused for its budget, if the budget is no longer
 * spent: after a raise, or in a new month.
 */
export function resumeCompanyFromBudget(ctx: Context, companyId: string): void {
  const company = findCompany(ctx.db, { id: companyId })
  if (company?.status !== 'paused' || company.pause_reason !== 'budget') return
  if (isSpent(company.budget_micros, companySpend(ctx.db, { companyId, now: ctx.now }))) return
  updateCompany(ctx.db, companyId, { status: 'active', pause_reason: null, paused_at: null, updated_at: ctx.now })
  record(ctx, companyId, 'company.resumed')
}

const record = (ctx: Context, companyId: string, action: Action) =>
  recordActivity(ctx, SYSTEM, {
    companyId,
    action,
    entity: { type: 'company', id: companyId },
    details: { reason: 'budget' },
  })
