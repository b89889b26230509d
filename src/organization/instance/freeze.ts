import { actorOf, type Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { requestStops } from '../run/stop.ts'
import { deleteFreeze, findFreeze, insertFreeze } from './queries.ts'
import { recordForAll } from './record.ts'

/**
 * Stops all runs in every company and prevents new ones until the thaw, also
 * after a restart of the server. Waiting wakes remain. Freezing again is a
 * no-op.
 */
export function freezeAll(ctx: Context, caller: Caller, reason: string | null): void {
  if (findFreeze(ctx.db)) return
  insertFreeze(ctx.db, { reason, user_id: actorOf(caller).id, created_at: ctx.now })
  requestStops(ctx, {}, 'stopped')
  recordForAll(ctx, caller, 'company.frozen', { reason })
}

/** Ends the freeze. Waiting wakes can start again. */
export function thawAll(ctx: Context, caller: Caller): void {
  if (deleteFreeze(ctx.db) > 0) recordForAll(ctx, caller, 'company.unfrozen', {})
}
