import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { type Json, redact } from '../../access/redaction/redact.ts'
import { open, placeOf, seal } from '../../access/secret/seal.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import type { ConfigRevisionTable } from '../../platform/database/tables.ts'
import { uuid } from '../../platform/uuid.ts'
import type { AgentRow } from './agent.ts'
import { insertRevision } from './revision-queries.ts'

export type RevisionRow = Selectable<ConfigRevisionTable>

/**
 * The configuration that revisions store. Budget, permissions and skills are
 * excluded, so that a rollback cannot raise a limit or restore a permission.
 */
export interface AgentConfig {
  name: string
  role: string
  title: string | null
  icon: string | null
  reportsTo: string | null
  capabilities: string | null
  adapterType: string
  adapterConfig: Json
  runtimeConfig: Json
  metadata: Json | null
}

/** Returns an agent's configuration with decrypted secrets. Values that the key cannot decrypt remain encrypted. */
export const configOf = (ctx: Context, row: AgentRow): AgentConfig => openConfig(ctx, row, storedConfigOf(row))

/**
 * Returns a configuration as the rows of agents and revisions store it: the
 * values that a read redacts are encrypted.
 */
export const sealConfig = (ctx: Context, agent: Owner, config: AgentConfig): AgentConfig =>
  changeHiding(config, (json) => seal(ctx.vault, placeOf('agent', agent), json))

export const openConfig = (ctx: Context, agent: Owner, config: AgentConfig): AgentConfig =>
  changeHiding(config, (json) => open(ctx.vault, placeOf('agent', agent), json))

type Owner = Pick<AgentRow, 'id' | 'company_id'>

const displayed = (config: AgentConfig): AgentConfig => changeHiding(config, redact)

/** Changes the parts of a configuration that may contain secrets. */
const changeHiding = (config: AgentConfig, change: (json: Json) => Json): AgentConfig => ({
  ...config,
  adapterConfig: change(config.adapterConfig),
  metadata: config.metadata && change(config.metadata),
})

const storedConfigOf = (row: AgentRow): AgentConfig => ({
  name: row.name,
  role: row.role,
  title: row.title,
  icon: row.icon,
  reportsTo: row.reports_to,
  capabilities: row.capabilities,
  adapterType: row.adapter_type,
  adapterConfig: JSON.parse(row.adapter_config),
  runtimeConfig: JSON.parse(row.runtime_config),
  metadata: row.metadata === null ? null : JSON.parse(row.metadata),
})

const RevisionConfig = v.strictObject({
  name: v.string(),
  role: v.string(),
  title: v.nullable(v.string()),
  icon: v.nullable(v.string()),
  reportsTo: v.nullable(field.id),
  capabilities: v.nullable(v.string()),
  adapterType: v.string(),
  adapterConfig: field.jsonObject,
  runtimeConfig: field.jsonObject,
  metadata: v.nullable(field.jsonObject),
})

/** A change of an agent's configuration as the API returns it, without its secrets. */
export const Revision = v.strictObject({
  id: field.id,
  companyId: field.id,
  agentId: field.id,
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  source: v.picklist(['create', 'patch', 'rollback', 'hire']),
  rolledBackFromRevisionId: v.nullable(field.id),
  changedKeys: v.array(v.string()),
  beforeConfig: v.nullable(RevisionConfig),
  afterConfig: RevisionConfig,
  createdAt: field.timestamp,
})

export const toRevision = (row: RevisionRow): v.InferOutput<typeof Revision> => ({
  id: row.id,
  companyId: row.company_id,
  agentId: row.agent_id,
  createdByAgentId: row.created_by_agent_id,
  createdByUserId: row.created_by_user_id,
  source: row.source,
  rolledBackFromRevisionId: row.rolled_back_from_revision_id,
  changedKeys: JSON.parse(row.changed_keys),
  beforeConfig: row.before_config === null ? null : displayed(JSON.parse(row.before_config)),
  afterConfig: displayed(JSON.parse(row.after_config)),
  createdAt: row.created_at,
})

/** Returns the keys in which two configurations differ; all keys if there was none before. */
export function changedKeys(before: AgentConfig | null, after: AgentConfig): string[] {
  const keys = Object.keys(after) as (keyof AgentConfig)[]
  return before ? keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key])) : keys
}

/** Records a configuration as a revision, with encrypted secrets, so that a rollback can restore it. */
export function recordRevision(
  ctx: Context,
  caller: Caller,
  change: {
    agent: AgentRow
    source: RevisionRow['source']
    before: AgentConfig | null
    after: AgentConfig
    rolledBackFrom?: string
  },
): void {
  const actor = actorOf(caller)
  insertRevision(ctx.db, {
    id: uuid(),
    company_id: change.agent.company_id,
    agent_id: change.agent.id,
    created_by_agent_id: actor.type === 'agent' ? actor.id : null,
    created_by_user_id: actor.type === 'user' ? actor.id : null,
    source: change.source,
    rolled_back_from_revision_id: change.rolledBackFrom ?? null,
    changed_keys: JSON.stringify(changedKeys(change.before, change.after)),
    before_config: change.before && JSON.stringify(sealConfig(ctx, change.agent, change.before)),
    after_config: JSON.stringify(sealConfig(ctx, change.agent, change.after)),
    created_at: ctx.now,
  })
}
