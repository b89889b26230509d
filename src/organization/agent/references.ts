import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { AgentRow } from './agent.ts'
import { findAgent, findAgentByUrlKey } from './queries.ts'

/** Refuses a request that is well formed for what one of its fields means. */
export const semantic = (field: string, message: string) =>
  new AppError('semantic', `${field}: ${message}`, { fields: [{ path: field, message }] })

/** Refuses a reference in a body. A thing of another company is as unknown as one that is nowhere. */
export const unknownReference = (field: string, what: string) =>
  semantic(field, `there is no such ${what} in this company`)

/** The agent that a body's field refers to, by id or `urlKey`. */
export function referredAgent(ctx: Context, companyId: string, field: string, ref: string): AgentRow {
  const agent = findAgent(ctx.db, { id: ref }) ?? findAgentByUrlKey(ctx.db, { companyId, urlKey: ref.toLowerCase() })
  if (agent?.company_id !== companyId) throw unknownReference(field, 'agent')
  return agent
}
