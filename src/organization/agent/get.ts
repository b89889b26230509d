import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from './agent.ts'
import { findAgent, findAgentByUrlKey } from './queries.ts'

/**
 * Gets the agent that a reference means: an id, or its `urlKey` together with
 * a company. An agent of another company is as unknown as one that is nowhere.
 */
export function getAgent(ctx: Context, caller: Caller, ref: string, companyId?: string): AgentRow {
  const company = companyId ?? (caller.type === 'agent' ? caller.companyId : undefined)
  const agent =
    findAgent(ctx.db, { id: ref }) ??
    (company === undefined ? undefined : findAgentByUrlKey(ctx.db, { companyId: company, urlKey: ref.toLowerCase() }))
  return requireVisible(ctx, caller, agent, 'agent', ref)
}
