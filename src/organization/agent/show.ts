import * as v from 'valibot'
import type { Input } from '../../access/route.ts'
import type { Context } from '../../platform/context.ts'
import { type AgentDetail, type AgentRow, toAgentDetail } from './agent.ts'
import { getAgent } from './get.ts'
import { findAgentWithFacts, listManagers } from './queries.ts'

/** The company in which a `urlKey` in the path is looked up; an id needs none, nor does an agent's own company. */
export const AGENT_QUERY = v.object({ companyId: v.optional(v.string()) })

/** An agent as it stands, for an answer. */
export const showAgent = (ctx: Context, { id }: { id: string }): AgentDetail =>
  toAgentDetail(findAgentWithFacts(ctx.db, { id, now: ctx.now })!, listManagers(ctx.db, { agentId: id }))

/** Runs a change of the agent that the path names, in one write, and answers the agent as it then is. */
export function changing<P extends { agentId: string }, B>(
  change: (ctx: Context, input: Input<P, unknown, B>, agent: AgentRow) => void,
) {
  return (ctx: Context, input: Input<P, { companyId?: string | undefined }, B>) =>
    ctx.write(() => {
      const row = getAgent(ctx, input.caller, input.params.agentId, input.query.companyId)
      change(ctx, input, row)
      return showAgent(ctx, row)
    })
}
