import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { AgentRow } from './agent.ts'
import { approveConfig } from './approved-config.ts'
import { configOf } from './configuration.ts'
import { findLatestRevision } from './revision-queries.ts'
import { assertNotTerminated } from './update.ts'

/**
 * Approves the current configuration of an agent. Approving it again is a
 * no-op.
 *
 * @param revisionId the revision that the board saw
 * @throws AppError 409 if the configuration has changed since, 422 if the
 *   agent's hire is undecided
 */
export function approveAgentConfig(ctx: Context, caller: Caller, agent: AgentRow, revisionId: string): void {
  assertNotTerminated(agent)
  if (agent.status === 'pending_approval') {
    const message = `${agent.name} waits for the approval of its hire. Approve that instead.`
    throw new AppError('agent_not_ready', message, { status: agent.status })
  }
  const latest = findLatestRevision(ctx.db, { agentId: agent.id })
  if (revisionId !== latest?.id) {
    throw new AppError('conflict', `The configuration of ${agent.name} has changed. Review it again.`, {
      revisionId: latest?.id ?? null,
    })
  }
  const { adapterConfig } = configOf(ctx, agent)
  approveConfig(ctx, caller, agent, adapterConfig, adapterConfig)
}
