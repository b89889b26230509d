import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import type { AgentRow } from './agent.ts'
import { applyConfig } from './change.ts'
import { openConfig } from './configuration.ts'
import { findRevision } from './revision-queries.ts'
import { assertNotTerminated } from './update.ts'

/**
 * Restores the configuration that an agent had after a revision, including
 * secrets. The rollback is a revision itself, so it can be undone in the same
 * way.
 */
export function rollBack(ctx: Context, caller: Caller, agent: AgentRow, revisionId: string): void {
  assertNotTerminated(agent)
  const revision = findRevision(ctx.db, { id: revisionId, agentId: agent.id })
  if (!revision) throw notFound('revision', revisionId)
  const config = openConfig(ctx, agent, JSON.parse(revision.after_config))
  try {
    applyConfig(ctx, caller, agent, config, { source: 'rollback', rolledBackFrom: revision.id })
  } catch (error) {
    // The revision is invalid, not the request: its adapter or the adapter's schema has changed since.
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error
    throw new AppError(
      'semantic',
      `The configuration of this revision is no longer valid. ${error.message}`,
      error.details,
    )
  }
}
