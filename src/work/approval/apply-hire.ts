import type { Caller } from '../../access/caller/caller.ts'
import type { Json } from '../../access/redaction/redact.ts'
import { open, placeOf } from '../../access/secret/seal.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { approveConfig } from '../../organization/agent/approved-config.ts'
import { configOf } from '../../organization/agent/configuration.ts'
import { endAgent } from '../../organization/agent/end.ts'
import { getAgent } from '../../organization/agent/get.ts'
import { activateAgent } from '../../organization/agent/pause.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { releaseIssuesOfAgent } from '../issue/release.ts'

/** Activates an agent after the approval of its hire: approves its configuration, sets it to idle and starts its timer. */
export function activateHiredAgent(ctx: Context, caller: Caller, agentId: string, payload: Json = {}): void {
  const agent = getAgent(ctx, caller, agentId)
  assertPendingApproval(agent)
  // The payload contains the values that the board approved. A path that the agent changed afterwards is not approved.
  const { adapterConfig: current } = configOf(ctx, agent)
  const seen = open(ctx.vault, placeOf('agent', agent), payload).adapterConfig as Json | undefined
  approveConfig(ctx, caller, agent, seen ?? {}, current)
  activateAgent(ctx, caller, getAgent(ctx, caller, agentId), 'agent.activated')
}

/** Terminates an agent after the rejection of its hire. */
export function rejectHiredAgent(ctx: Context, caller: Caller, agentId: string): void {
  const agent = getAgent(ctx, caller, agentId)
  assertPendingApproval(agent)
  endAgent(ctx, caller, agent)
  releaseIssuesOfAgent(ctx, caller, agent)
}

/** Refuses an agent that does not wait for an approval. */
function assertPendingApproval(agent: AgentRow): void {
  if (agent.status === 'pending_approval') return
  throw new AppError('invalid_transition', `${agent.name} is ${agent.status}: its hire is already decided.`, {
    from: agent.status,
  })
}
