import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { requestStops } from '../run/stop.ts'
import { findCompany, updateCompany } from './queries.ts'

/**
 * Stops all runs of a company and prevents new ones. The stop is separate from
 * the company's status: waiting wakes remain, and a thaw restores the previous
 * state.
 */
export function stopCompany(ctx: Context, caller: Caller, companyId: string, reason: string | null): void {
  if (findCompany(ctx.db, { id: companyId })!.stopped_at !== null) return
  updateCompany(ctx.db, companyId, { stopped_at: ctx.now, updated_at: ctx.now })
  const runs = requestStops(ctx, { companyId }, 'stopped')
  record(ctx, caller, companyId, 'company.stopped', { reason, runs })
}

/** Ends the stop of a company. A no-op for a company that is not stopped. */
export function thawCompany(ctx: Context, caller: Caller, companyId: string): void {
  if (findCompany(ctx.db, { id: companyId })!.stopped_at === null) return
  updateCompany(ctx.db, companyId, { stopped_at: null, updated_at: ctx.now })
  record(ctx, caller, companyId, 'company.thawed')
}

const record = (
  ctx: Context,
  caller: Caller,
  companyId: string,
  action: 'company.stopped' | 'company.thawed',
  details: Record<string, unknown> = {},
) => recordActivity(ctx, caller, { companyId, action, entity: { type: 'company', id: companyId }, details })
