import * as v from 'valibot'
import type { Input } from '../../access/route.ts'
import type { Context } from '../../platform/context.ts'
import { type AgentDetail, type AgentRow, toAgentDetail } from './agent.ts'
import { getAgent } from './get.ts'
import { missingSecrets } from './missing-secrets.ts'
import { findAgentWithFacts, listManagers } from './queries.ts'

/** The company of a `urlKey` in the path. Not needed for an id, or for the agents of the caller's own company. */
export const AGENT_QUERY = v.object({ companyId: v.optional(v.string()) })

/** Returns the current state of an agent for a response. */
export function showAgent(ctx: Context, { id }: { id: string }): AgentDetail {
  const row = findAgentWithFacts(ctx.db, { id, now: ctx.now })!
  return toAgentDetail(row, {
    managers: listManagers(ctx.db, { agentId: id }),
    missingSecrets: missingSecrets(ctx, row),
  })
}

/** Runs a change of the agent that the path names in one write, and returns the changed agent. */
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
