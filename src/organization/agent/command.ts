import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { isAbove } from './queries.ts'

/**
 * Throws `forbidden` unless the caller may start and stop runs of an agent: the
 * board for every agent, a manager for the agents below it. An agent itself may
 * not start or stop its own runs.
 */
export function assertMayCommand(ctx: Context, caller: Caller, agentId: string, action: string): void {
  if (caller.type === 'agent' && !isAbove(ctx.db, { managerId: caller.agentId, agentId })) {
    throw forbidden(`Only the board and the agent's managers may ${action}.`)
  }
}
