import { recordActivity } from '../activity/record.ts'
import type { Context } from '../context.ts'
import { sql } from '../database/sql.ts'
import type { Caller } from '../http/caller.ts'
import { findAgent } from './queries.ts'

/** Lets an agent whose hire was approved work. One that is not pending is left as it is. */
export function activateHiredAgent(ctx: Context, caller: Caller, agentId: string): void {
  settle(ctx, caller, agentId, 'idle')
}

/** Ends an agent whose hire was refused. One that is not pending is left as it is. */
export function rejectHiredAgent(ctx: Context, caller: Caller, agentId: string): void {
  settle(ctx, caller, agentId, 'terminated')
}

function settle(ctx: Context, caller: Caller, agentId: string, status: 'idle' | 'terminated'): void {
  const agent = findAgent(ctx.db, { id: agentId })
  if (agent?.status !== 'pending_approval') return
  ctx.db.run(sql.updateTable('agent').set({ status, updated_at: ctx.now }).where('id', '=', agentId))
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: status === 'idle' ? 'agent.hired' : 'agent.terminated',
    entity: { type: 'agent', id: agentId },
    agentId,
  })
}
