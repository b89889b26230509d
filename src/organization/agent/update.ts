import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { mergePatch, restore } from '../../access/redaction/redact.ts'
import { refuseSealed } from '../../access/redaction/sealed.ts'
import { validate } from '../../http/validate.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden } from '../../platform/errors.ts'
import { assertPlacementExists } from '../placement/resolve.ts'
import { resolveSkills } from '../skill/resolve.ts'
import type { AgentChange, AgentRow, Permissions } from './agent.ts'
import { applyConfig, reload } from './change.ts'
import { type AgentConfig, configOf } from './configuration.ts'
import { getManager } from './create.ts'
import { isAbove, updateAgent } from './queries.ts'
import { RuntimeConfig } from './runtime-config.ts'
import { setBudget } from './set-budget.ts'

/**
 * The fields that an agent may set for itself and the agents below it. They do
 * not affect the program of a run, its schedule or its costs.
 */
const OPEN_TO_AGENTS: readonly string[] = ['name', 'title', 'icon', 'capabilities']

/** Changes an agent. If the client sends a redaction placeholder, the stored secret does not change. */
export function changeAgent(ctx: Context, caller: Caller, agent: AgentRow, want: AgentChange): void {
  assertMayChange(ctx, caller, agent, want)
  assertNotTerminated(agent)
  refuseSealed(want.metadata, 'metadata')
  const before = configOf(ctx, agent)
  const after: AgentConfig = {
    ...before,
    ...given({ name: want.name, role: want.role, title: want.title, icon: want.icon, capabilities: want.capabilities }),
    ...(want.reportsTo !== undefined && {
      reportsTo: want.reportsTo === null ? null : getManager(ctx, agent.company_id, want.reportsTo).id,
    }),
    ...adapterAfter(before, want),
    ...(want.runtimeConfig && {
      runtimeConfig: validate(RuntimeConfig, mergePatch(before.runtimeConfig, want.runtimeConfig), 'runtimeConfig'),
    }),
    ...(want.metadata !== undefined && { metadata: metadataAfter(before, want.metadata) }),
  }
  if (want.runtimeConfig?.placement !== undefined) {
    assertPlacementExists(ctx, 'runtimeConfig.placement', after.runtimeConfig.placement as string | undefined)
  }
  applyConfig(ctx, caller, agent, after, { source: 'patch' })
  if (want.desiredSkills) {
    setDesiredSkills(ctx, caller, agent, resolveSkills(ctx, agent.company_id, want.desiredSkills))
  }
  if (want.budgetMonthlyCents !== undefined) setBudget(ctx, caller, reload(ctx, agent), want.budgetMonthlyCents)
}

/** Changes the permissions of an agent. */
export function changePermissions(ctx: Context, caller: Caller, agent: AgentRow, want: Permissions): void {
  assertNotTerminated(agent)
  const permissions = JSON.stringify({ ...JSON.parse(agent.permissions), ...want })
  if (permissions === agent.permissions) return
  updateAgent(ctx.db, agent.id, { permissions, updated_at: ctx.now })
  record(ctx, caller, agent, 'agent.permissions_changed', { permissions: want })
}

/** Refuses a change of a terminated agent, because a termination is final. */
export function assertNotTerminated(agent: AgentRow): void {
  if (agent.status !== 'terminated') return
  throw new AppError('agent_not_ready', `${agent.name} is terminated, so it cannot be changed.`, {
    status: agent.status,
  })
}

function assertMayChange(ctx: Context, caller: Caller, agent: AgentRow, want: AgentChange): void {
  if (caller.type !== 'agent') return
  if (caller.agentId !== agent.id && !isAbove(ctx.db, { managerId: caller.agentId, agentId: agent.id })) {
    throw forbidden(`Only the board, ${agent.name} itself and the managers above it may change it.`)
  }
  const closed = Object.keys(want).filter((key) => !OPEN_TO_AGENTS.includes(key))
  if (closed.length > 0) {
    throw forbidden(`Only the board may change ${closed.join(', ')} of an agent.`, { fields: closed })
  }
}

/**
 * Returns the adapter and its configuration after a change: merged into the
 * current configuration, or replaced if the adapter changes.
 */
function adapterAfter(before: AgentConfig, want: AgentChange): Partial<AgentConfig> {
  const adapterType = want.adapterType ?? before.adapterType
  const sent = restore(want.adapterConfig ?? {}, before.adapterConfig)
  const base = adapterType === before.adapterType ? before.adapterConfig : {}
  return { adapterType, adapterConfig: mergePatch(base, sent) }
}

const metadataAfter = (before: AgentConfig, sent: AgentConfig['metadata']) =>
  sent && mergePatch(before.metadata ?? {}, restore(sent, before.metadata ?? {}))

/** Returns the fields that were sent. The other fields do not change. */
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** Sets the desired skills of an agent, as canonical keys. */
export function setDesiredSkills(ctx: Context, caller: Caller, agent: AgentRow, keys: readonly string[]): void {
  const desired = JSON.stringify(keys)
  if (desired === agent.desired_skills) return
  updateAgent(ctx.db, agent.id, { desired_skills: desired, updated_at: ctx.now })
  record(ctx, caller, agent, 'agent.skills_changed', { desiredSkills: JSON.parse(desired) })
}

function record(ctx: Context, caller: Caller, agent: AgentRow, action: Action, details: Record<string, unknown>) {
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action,
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, ...details },
  })
}
