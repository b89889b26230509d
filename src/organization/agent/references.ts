import type { Context } from '../../platform/context.ts'
import { unknownReference } from '../../platform/errors.ts'
import type { AgentRow } from './agent.ts'
import { findAgentByReference } from './queries.ts'

/**
 * Returns the agent that a body's field refers to, by id or `urlKey`.
 *
 * @throws AppError 422 if the company has no such agent
 */
export function getReferredAgent(ctx: Context, companyId: string, field: string, ref: string): AgentRow {
  const agent = findAgentByReference(ctx.db, { companyId, ref })
  if (agent?.company_id !== companyId) throw unknownReference(field, 'agent')
  return agent
}
