import { recordActivity } from '../../access/activity/record.ts'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { requestStops } from '../run/stop.ts'
import { deleteFreeze, findFreeze, insertFreeze, listCompanyIds } from './queries.ts'

/**
 * Stops everything that runs, in every company, and lets nothing start until
 * the thaw, over restarts of the server too. What waits goes on waiting.
 * Freezing what is frozen changes nothing.
 */
export function freezeAll(ctx: Context, caller: Caller, reason: string | null): void {
  if (findFreeze(ctx.db)) return
  insertFreeze(ctx.db, { reason, user_id: actorOf(caller).id, created_at: ctx.now })
  requestStops(ctx, {}, 'stopped')
  recordForAll(ctx, caller, 'company.frozen', { reason })
}

/** Lets everything go on that was waiting. */
export function thawAll(ctx: Context, caller: Caller): void {
  if (deleteFreeze(ctx.db) > 0) recordForAll(ctx, caller, 'company.unfrozen', {})
}

/**
 * The activity belongs to companies: each says why nothing ran in it, also one
 * to which who set the server up does not belong.
 */
function recordForAll(ctx: Context, operator: Caller, action: string, details: Record<string, unknown>): void {
  const caller: Caller = operator.type === 'board' ? { ...operator, roles: null } : operator
  for (const companyId of listCompanyIds(ctx.db)) {
    recordActivity(ctx, caller, { companyId, action, entity: { type: 'company', id: companyId }, details })
  }
}
