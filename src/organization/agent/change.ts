import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { refusePlaceholders } from '../../access/redaction/redact.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { AgentRow } from './agent.ts'
import { unapprovedPathsAfter } from './approved-config.ts'
import {
  type AgentConfig,
  changedKeys,
  configOf,
  type RevisionRow,
  recordRevision,
  sealConfig,
} from './configuration.ts'
import { assertAdapterConfig, assertLevels, assertSmall, chooseUrlKey, getManager } from './create.ts'
import { countLevels, findAgent, isAbove, updateAgent } from './queries.ts'
import { heartbeatOf } from './runtime-config.ts'
import { firstTimerDue } from './timer.ts'

interface Origin {
  source: RevisionRow['source']
  rolledBackFrom?: string
}

/**
 * Changes an agent's configuration after validating it, and records a revision
 * and an activity. An equal configuration is a no-op. `runtimeConfig` must have
 * been validated.
 */
export function applyConfig(ctx: Context, caller: Caller, agent: AgentRow, after: AgentConfig, origin: Origin): void {
  const before = configOf(ctx, agent)
  const changed = changedKeys(before, after)
  if (changed.length === 0) return
  if (changed.includes('reportsTo') && after.reportsTo) assertMayReportTo(ctx, agent, after.reportsTo)
  const changesAdapter = changed.includes('adapterType') || changed.includes('adapterConfig')
  if (changesAdapter) assertAdapterConfig(after.adapterType, after.adapterConfig)
  if (after.metadata) {
    assertSmall(after.metadata, 'metadata')
    refusePlaceholders(after.metadata, 'metadata')
  }
  const runtimeConfig = JSON.stringify(after.runtimeConfig)
  const { adapterConfig, metadata } = sealConfig(ctx, agent, after)
  updateAgent(ctx.db, agent.id, {
    name: after.name,
    ...(changed.includes('name') && { url_key: chooseUrlKey(ctx, agent.company_id, after.name, agent.id) }),
    role: after.role,
    title: after.title,
    icon: after.icon,
    reports_to: after.reportsTo,
    capabilities: after.capabilities,
    adapter_type: after.adapterType,
    adapter_config: JSON.stringify(adapterConfig),
    unapproved_paths: unapprovedPathsAfter(caller, agent, before.adapterConfig, after.adapterConfig),
    runtime_config: runtimeConfig,
    metadata: metadata && JSON.stringify(metadata),
    // The cause may be gone, such as a missing program or a refused key. If not, the next run finds it again.
    ...(changesAdapter && { held_until: null, held_because: null }),
    ...(changesTimer(agent, runtimeConfig) && {
      timer_due_at: firstTimerDue({ ...agent, runtime_config: runtimeConfig }, ctx.now),
    }),
    updated_at: ctx.now,
  })
  recordRevision(ctx, caller, { agent, before, after, ...origin })
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: origin.source === 'rollback' ? 'agent.rolled_back' : 'agent.updated',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: after.name, changedKeys: changed, ...(origin.rolledBackFrom && { to: origin.rolledBackFrom }) },
  })
}

/** Changes the manager of an agent; null puts it at the top. */
export const moveAgent = (ctx: Context, caller: Caller, agent: AgentRow, reportsTo: string | null): void =>
  applyConfig(ctx, caller, agent, { ...configOf(ctx, agent), reportsTo }, { source: 'patch' })

/** Refuses a manager that does not exist, that is the agent itself or below it, or that is too far down. */
function assertMayReportTo(ctx: Context, agent: AgentRow, managerId: string): void {
  const manager = getManager(ctx, agent.company_id, managerId)
  if (manager.id === agent.id || isAbove(ctx.db, { managerId: agent.id, agentId: manager.id })) {
    const who = manager.id === agent.id ? 'itself' : `${manager.name}, who reports to it`
    throw new AppError('semantic', `reportsTo: ${agent.name} cannot report to ${who}.`, { field: 'reportsTo' })
  }
  assertLevels(ctx, manager, countLevels(ctx.db, { agentId: agent.id }))
}

/** Whether the timer starts again. An unchanged timer keeps its due time. */
function changesTimer(agent: AgentRow, runtimeConfig: string): boolean {
  const [before, after] = [heartbeatOf(agent), heartbeatOf({ runtime_config: runtimeConfig })]
  return before.enabled !== after.enabled || before.intervalSec !== after.intervalSec
}

/** Reads the agent again after changes in the same write. */
export const reload = (ctx: Context, agent: AgentRow): AgentRow => findAgent(ctx.db, { id: agent.id })!
