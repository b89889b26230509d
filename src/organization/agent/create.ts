import type { Caller } from '../../access/caller/caller.ts'
import { type Json, refusePlaceholders } from '../../access/redaction/redact.ts'
import { refuseSealed } from '../../access/redaction/sealed.ts'
import { placeOf, seal } from '../../access/secret/seal.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { ADAPTER_TYPES } from '../../adapter/types.ts'
import { validate } from '../../http/validate.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, invalid } from '../../platform/errors.ts'
import { isSmallJson, JSON_TOO_LARGE } from '../../platform/json-size.ts'
import { chooseUrlKey as uniqueUrlKey } from '../../platform/url-key.ts'
import { uuid } from '../../platform/uuid.ts'
import { findCompany } from '../company/queries.ts'
import { toMicros } from '../cost/money.ts'
import { assertPlacementExists } from '../placement/resolve.ts'
import { resolveSkills } from '../skill/resolve.ts'
import type { AgentRow, NewAgent, Permissions } from './agent.ts'
import { approvalColumns } from './approved-config.ts'
import { configOf, recordRevision } from './configuration.ts'
import { findAgent, findAgentByReference, findAgentByUrlKey, insertAgent, listManagers, MAX_LEVELS } from './queries.ts'
import { firstTimerDue } from './timer.ts'

/**
 * The id and URL key of an agent that are chosen beforehand: its files are on
 * disk already, or a package sets its slug.
 */
export interface Identity {
  id?: string
  /** Must be free in the company. */
  urlKey?: string
}

/**
 * Adds an agent to the company, with its first configuration revision. The
 * caller records the activity. The configuration counts as approved if a person
 * sets it, or if the company trusts the hires of its agents.
 */
export function addAgent(
  ctx: Context,
  caller: Caller,
  companyId: string,
  want: NewAgent,
  as: { status: 'idle' | 'pending_approval'; source: 'create' | 'hire' } & Identity,
): AgentRow {
  assertAdapterConfig(want.adapterType, want.adapterConfig)
  refuseSealed(want.metadata, 'metadata')
  if (want.metadata) refusePlaceholders(want.metadata, 'metadata')
  const placement = want.runtimeConfig?.placement
  if (placement !== undefined && caller.type === 'agent') {
    throw forbidden('Only the board chooses a placement. Leave runtimeConfig.placement out.')
  }
  assertPlacementExists(ctx, 'runtimeConfig.placement', placement)
  const manager = want.reportsTo ? getManager(ctx, companyId, want.reportsTo) : undefined
  if (manager) assertLevels(ctx, manager, 1)
  const id = as.id ?? uuid()
  const runtimeConfig = JSON.stringify(want.runtimeConfig ?? {})
  const isTrusted = caller.type === 'board' || findCompany(ctx.db, { id: companyId })!.trust_hires === 1
  const approval = approvalColumns(caller, want.adapterConfig, as.status === 'idle' && isTrusted)
  const place = placeOf('agent', { id, company_id: companyId })
  insertAgent(ctx.db, {
    id,
    company_id: companyId,
    name: want.name,
    url_key: as.urlKey ?? chooseUrlKey(ctx, companyId, want.name),
    role: want.role,
    title: want.title ?? null,
    icon: want.icon ?? null,
    status: as.status,
    reports_to: manager?.id ?? null,
    capabilities: want.capabilities ?? null,
    adapter_type: want.adapterType,
    adapter_config: JSON.stringify(seal(ctx.vault, place, want.adapterConfig)),
    runtime_config: runtimeConfig,
    permissions: JSON.stringify(permissionsOf(want)),
    desired_skills: JSON.stringify(resolveSkills(ctx, companyId, want.desiredSkills ?? [])),
    metadata: want.metadata ? JSON.stringify(seal(ctx.vault, place, want.metadata)) : null,
    budget_micros: toMicros(want.budgetMonthlyCents ?? 0),
    ...approval,
    timer_due_at: firstTimerDue({ status: as.status, runtime_config: runtimeConfig, ...approval }, ctx.now),
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  const agent = findAgent(ctx.db, { id })!
  recordRevision(ctx, caller, { agent, source: as.source, before: null, after: configOf(ctx, agent) })
  return agent
}

const permissionsOf = ({ permissions: { canCreateSkills: _, ...permissions } = {} }: NewAgent): Permissions =>
  permissions

/** Refuses an unknown adapter, and a configuration that does not match the adapter's schema. */
export function assertAdapterConfig(type: string, config: Json): void {
  const adapter = adapterOf(type)
  if (!adapter) {
    throw invalid([{ path: 'adapterType', message: `must be one of ${ADAPTER_TYPES.join(', ')}` }])
  }
  assertSmall(config, 'adapterConfig')
  refuseSealed(config, 'adapterConfig')
  validate(adapter.config, config, 'adapterConfig')
  refusePlaceholders(config, 'adapterConfig')
}

/** Refuses a stored object that has grown too large, change by change. @throws AppError 400 */
export function assertSmall(config: Json, path: string): void {
  if (!isSmallJson(config)) throw invalid([{ path, message: JSON_TOO_LARGE }])
}

/** Returns the agent that `reportsTo` names. It must belong to the company and must not be terminated. */
export function getManager(ctx: Context, companyId: string, ref: string): AgentRow {
  const manager = findAgentByReference(ctx.db, { companyId, ref })
  if (manager?.company_id !== companyId) {
    throw new AppError('semantic', `reportsTo: there is no agent ${ref} in this company.`, { field: 'reportsTo' })
  }
  if (manager.status === 'terminated') {
    throw new AppError('semantic', `reportsTo: ${manager.name} is terminated. Choose another manager.`, {
      field: 'reportsTo',
    })
  }
  return manager
}

/**
 * Refuses a manager below whom a part of the tree would be too far down.
 *
 * @param levels the number of levels of that part; 1 for a new agent
 * @throws AppError 422 if the tree would have more than `MAX_LEVELS`
 */
export function assertLevels(ctx: Context, manager: AgentRow, levels: number): void {
  if (listManagers(ctx.db, { agentId: manager.id }).length + 1 + levels <= MAX_LEVELS) return
  throw new AppError(
    'semantic',
    `reportsTo: below ${manager.name} the reporting tree would have more than ${MAX_LEVELS} levels. Choose a higher manager.`,
    { field: 'reportsTo' },
  )
}

/**
 * Returns the form of an agent's name for URLs, unique in the company. `me` is
 * reserved by the API.
 *
 * @param agentId the agent that may already have it
 */
export const chooseUrlKey = (ctx: Context, companyId: string, name: string, agentId?: string): string =>
  uniqueUrlKey(name, 'agent', (urlKey) => {
    const holder = findAgentByUrlKey(ctx.db, { companyId, urlKey })
    return urlKey === 'me' || (holder !== undefined && holder.id !== agentId)
  })
