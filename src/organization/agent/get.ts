import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from './agent.ts'
import { findAgentByReference } from './queries.ts'

/**
 * Gets the agent that a reference in a path names: an id, or a `urlKey` of a
 * company. For an agent the company defaults to its own.
 *
 * @throws AppError 404 if there is no such agent, or it belongs to another company
 */
export function getAgent(ctx: Context, caller: Caller, ref: string, companyId?: string): AgentRow {
  const company = companyId ?? (caller.type === 'agent' ? caller.companyId : undefined)
  const agent = findAgentByReference(ctx.db, { companyId: company, ref })
  return requireVisible(ctx, caller, agent, 'agent', ref)
}
