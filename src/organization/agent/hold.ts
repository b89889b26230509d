import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from './agent.ts'
import { updateAgent } from './queries.ts'

/**
 * Holds an agent: its wakes wait until a moment. Resuming the agent ends the
 * hold early. A longer hold for the same reason adds no activity.
 */
export function holdAgent(ctx: Context, agent: AgentRow, until: string, because: string): void {
  updateAgent(ctx.db, agent.id, { held_until: until, held_because: because, updated_at: ctx.now })
  if (agent.held_because === because) return
  recordActivity(ctx, SYSTEM, {
    companyId: agent.company_id,
    action: 'agent.held',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, heldUntil: until, heldBecause: because },
  })
}
