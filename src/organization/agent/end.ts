import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { requestStops } from '../run/stop.ts'
import { dropWaitingWakes } from '../wake/queries.ts'
import type { AgentRow } from './agent.ts'
import { moveAgent } from './change.ts'
import { revokeAllKeys } from './key-queries.ts'
import { assertTransition } from './lifecycle.ts'
import { listSubordinates, updateAgent } from './queries.ts'

/**
 * Sets an agent to `terminated`. Revokes its keys, drops its waiting wakes and
 * stops its live runs. Its direct reports move to its manager, so that no chain
 * of command passes through a terminated agent. It does not release the
 * agent's issues: the caller does.
 *
 * @returns the id of the activity row
 */
export function endAgent(ctx: Context, caller: Caller, agent: AgentRow): string {
  assertTransition(agent, 'terminated')
  updateAgent(ctx.db, agent.id, {
    status: 'terminated',
    pause_reason: null,
    pause_message: null,
    paused_at: null,
    timer_due_at: null,
    updated_at: ctx.now,
  })
  revokeAllKeys(ctx.db, { agentId: agent.id, at: ctx.now })
  dropWaitingWakes(ctx.db, { agentId: agent.id, reason: 'terminated', at: ctx.now })
  const activityId = recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: 'agent.terminated',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, from: agent.status },
  })
  requestStops(ctx, { agentId: agent.id }, 'terminated')
  for (const subordinate of listSubordinates(ctx.db, { agentId: agent.id })) {
    moveAgent(ctx, caller, subordinate, agent.reports_to)
  }
  return activityId
}
