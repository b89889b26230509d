import type { Caller } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { endAgent } from '../../organization/agent/end.ts'
import { getAgent } from '../../organization/agent/get.ts'
import { activateAgent } from '../../organization/agent/pause.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { releaseIssuesOfAgent } from '../issue/release.ts'

/** Takes an agent whose hire was approved into service: it is idle and its timer runs. */
export function activateHiredAgent(ctx: Context, caller: Caller, agentId: string): void {
  const agent = getAgent(ctx, caller, agentId)
  assertPendingApproval(agent)
  activateAgent(ctx, caller, agent, 'agent.activated')
}

/** Ends an agent whose hire was rejected. */
export function rejectHiredAgent(ctx: Context, caller: Caller, agentId: string): void {
  const agent = getAgent(ctx, caller, agentId)
  assertPendingApproval(agent)
  endAgent(ctx, caller, agent)
  releaseIssuesOfAgent(ctx, caller, agent)
}

/** Refuses an agent that waits for no approval, whatever else might follow its status. */
function assertPendingApproval(agent: AgentRow): void {
  if (agent.status === 'pending_approval') return
  throw new AppError('invalid_transition', `${agent.name} is ${agent.status}: its hire is decided already.`, {
    from: agent.status,
  })
}
