import { v7 as uuid } from 'uuid'
import { recordActivity } from '../activity/record.ts'
import type { Context } from '../context.ts'
import { toCents, toMicros } from '../cost/money.ts'
import { companySpend, insertCostEvent } from '../cost/queries.ts'
import { SYSTEM } from '../http/caller.ts'
import { listLiveRuns } from '../run/queries.ts'
import { requestStop } from '../run/stop.ts'
import type { CompanyRow } from './company.ts'
import { findCompany, updateCompany } from './queries.ts'

/**
 * Pauses a company because its budget is spent: its live runs are stopped, its
 * wakes wait. Changes nothing for one that is not active.
 *
 * @returns whether it was paused by this call
 */
export function pauseForBudget(ctx: Context, companyId: string): boolean {
  const company = findCompany(ctx.db, { id: companyId })
  if (company?.status !== 'active') return false
  updateCompany(ctx.db, companyId, {
    status: 'paused',
    pause_reason: 'budget',
    paused_at: ctx.now,
    updated_at: ctx.now,
  })
  recordActivity(ctx, SYSTEM, {
    companyId,
    action: 'company.paused',
    entity: { type: 'company', id: companyId },
    details: { reason: 'budget', budgetMonthlyCents: toCents(company.budget_micros) },
  })
  stopLiveRuns(ctx, companyId, 'budget')
  announceBudget(ctx, companyId)
  return true
}

/**
 * Lets a company work again that was paused for its budget, if there is some
 * of it left: after it was raised, or in a month that is young.
 *
 * @returns whether it was resumed by this call
 */
export function resumeFromBudget(ctx: Context, companyId: string): boolean {
  const company = findCompany(ctx.db, { id: companyId })
  if (company?.status !== 'paused' || company.pause_reason !== 'budget' || isSpent(ctx, company)) return false
  updateCompany(ctx.db, companyId, { status: 'active', pause_reason: null, paused_at: null, updated_at: ctx.now })
  recordActivity(ctx, SYSTEM, {
    companyId,
    action: 'company.resumed',
    entity: { type: 'company', id: companyId },
    details: { reason: 'budget' },
  })
  announceBudget(ctx, companyId)
  return true
}

/** Pauses or resumes a company as its budget and its spend ask. */
export function settleBudget(ctx: Context, companyId: string): void {
  if (isSpent(ctx, findCompany(ctx.db, { id: companyId })!)) pauseForBudget(ctx, companyId)
  else resumeFromBudget(ctx, companyId)
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

/** Ends what runs in a company. Wakes that wait are kept: nothing is claimed until it is active again. */
export function stopLiveRuns(ctx: Context, companyId: string, reason: 'paused' | 'budget'): void {
  for (const run of listLiveRuns(ctx.db, { companyId })) requestStop(ctx, run.id, reason)
}

/** Tells those who wait on money or on the company's status that one of them changed. */
export const announceBudget = (ctx: Context, companyId: string): void =>
  ctx.afterCommit(() => ctx.events.publish({ companyId, type: 'company.budget_changed', data: { companyId } }))

const isSpent = (ctx: Context, company: CompanyRow): boolean =>
  company.budget_micros > 0 && companySpend(ctx.db, { companyId: company.id, now: ctx.now }) >= company.budget_micros
