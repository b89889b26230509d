import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { redact } from '../../access/redaction/redact.ts'
import { METERINGS } from '../../adapter/adapter.ts'
import { resolveAdapterAlias } from '../../adapter/types.ts'
import * as field from '../../http/fields.ts'
import type { AgentTable } from '../../platform/database/tables.ts'
import { BUDGET_STATUSES, budgetStatus } from '../cost/budget-status.ts'
import { toCents } from '../cost/money.ts'
import { costMeteringNote, meteringOf } from './cost-metering.ts'
import { AGENT_ICONS } from './icons.ts'
import { PAUSE_REASONS, SHOWN_STATUSES, type ShownStatus } from './lifecycle.ts'
import { RuntimeConfig } from './runtime-config.ts'

export type AgentRow = Selectable<AgentTable>

/** An agent with the spend of this month, and with its status derived from its live runs. */
export type AgentWithFacts = AgentRow & { spent_micros: number; unpriced_costs: number; shown_status: ShownStatus }

export const Permissions = v.strictObject({
  canCreateAgents: v.optional(
    v.pipe(v.boolean(), v.description('Whether a manager or CEO may request hires. Default true.')),
  ),
  canAssignTasks: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Whether the agent may assign issues to others. If not, it may assign them only to itself and to the managers above it. Default true.',
      ),
    ),
  ),
})
export type Permissions = v.InferOutput<typeof Permissions>

/** An agent as lists return it. */
export const Agent = v.strictObject({
  id: field.id,
  companyId: field.id,
  name: v.string(),
  urlKey: v.string(),
  role: v.string(),
  title: v.nullable(v.string()),
  icon: v.nullable(v.string()),
  status: v.picklist(SHOWN_STATUSES),
  reportsTo: v.nullable(field.id),
  capabilities: v.nullable(v.string()),
  adapterType: v.string(),
  adapterConfig: field.jsonObject,
  runtimeConfig: RuntimeConfig,
  desiredSkills: v.array(v.string()),
  budgetMonthlyCents: field.integer,
  spentMonthlyCents: v.number(),
  budgetStatus: v.picklist(BUDGET_STATUSES),
  costMetering: v.pipe(
    v.picklist(METERINGS),
    v.description(
      'When the program reports the cost of a run: `live` (a budget stops a live run) or `none` (only reported cost events count).',
    ),
  ),
  costMeteringNote: v.pipe(
    v.nullable(v.string()),
    v.description('Why the budget cannot stop a live run, or does not include all costs. Null if neither applies.'),
  ),
  pauseReason: v.nullable(v.picklist(PAUSE_REASONS)),
  pauseMessage: v.nullable(v.string()),
  pausedAt: v.nullable(field.timestamp),
  errorReason: v.nullable(v.string()),
  heldUntil: v.pipe(
    v.nullable(field.timestamp),
    v.description('The end of a hold, for example by its provider. No run starts earlier.'),
  ),
  heldBecause: v.nullable(v.string()),
  permissions: Permissions,
  configApproved: v.pipe(
    v.boolean(),
    v.description(
      'Whether a person set or approved the configuration. If not, the runs are restricted: the program shows permission prompts, paths may point only to allowed folders, and the timer is off.',
    ),
  ),
  unapprovedPaths: v.pipe(
    v.array(v.string()),
    v.description(
      'The keys of adapterConfig that an agent set and the board has not approved: paths, which may point only to allowed folders, and sandbox, which cannot turn the sandbox off.',
    ),
  ),
  lastHeartbeatAt: v.nullable(field.timestamp),
  metadata: v.nullable(field.jsonObject),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Agent = v.InferOutput<typeof Agent>

const Superior = v.strictObject({ id: field.id, name: v.string(), role: v.string(), title: v.nullable(v.string()) })

/** An agent as responses about one agent return it: with its managers, the direct one first. */
export const AgentDetail = v.strictObject({
  ...Agent.entries,
  missingSecrets: v.pipe(
    v.array(v.string()),
    v.description(
      'Names of secrets that the configuration refers to and the company does not have, and of variables that the package of the agent requires and that have no value.',
    ),
  ),
  chainOfCommand: v.array(Superior),
})
export type AgentDetail = v.InferOutput<typeof AgentDetail>

export const role = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a short lower-case word, such as engineer'),
)
export const icon = v.picklist(AGENT_ICONS, 'must be one of the icons that GET /llms/agent-icons.txt lists')

const about = {
  title: v.optional(v.pipe(v.nullable(field.name), v.description('The job title, for people.'))),
  icon: v.optional(
    v.pipe(v.nullable(icon), v.description('The icon: one of the names that GET /llms/agent-icons.txt lists.')),
  ),
  reportsTo: v.optional(
    v.pipe(
      v.nullable(field.reference),
      v.description(
        'The manager: the id or urlKey of an agent of the company. Default for a hire by an agent: that agent.',
      ),
    ),
  ),
  capabilities: v.optional(
    v.pipe(
      v.nullable(field.text),
      v.description('The capabilities of the agent. Other agents read them to choose an assignee.'),
    ),
  ),
  desiredSkills: v.optional(
    v.pipe(
      v.array(field.reference),
      v.maxLength(200),
      v.description('Skills of the company by id, key or unique slug. The server stores their keys.'),
    ),
  ),
  runtimeConfig: v.optional(v.pipe(RuntimeConfig, v.description('The settings that decide when the agent runs.'))),
  budgetMonthlyCents: v.optional(v.pipe(field.cents, v.description('In US cents per month. 0 means no limit.'))),
  metadata: v.optional(
    v.pipe(
      v.nullable(field.sentObject),
      v.description('Additional data, which the service stores and does not interpret.'),
    ),
  ),
}

const adapterType = v.pipe(
  field.reference,
  // The description comes before the transform, because the schema of a request ends there.
  v.description('The adapter that runs the agent, as GET /llms/agent-configuration.txt lists them.'),
  v.transform(resolveAdapterAlias),
  v.string(),
)

/** The body of a creation and of a hire. */
export const NewAgent = v.strictObject({
  name: v.pipe(field.name, v.description('The name of the agent. @Name in a comment wakes it.')),
  role: v.optional(
    v.pipe(
      role,
      v.description(
        'A short lower-case word, such as engineer, researcher or manager. The role ceo has additional permissions.',
      ),
    ),
    'engineer',
  ),
  ...about,
  adapterType: v.optional(adapterType, 'runtimeA_local'),
  adapterConfig: v.optional(
    v.pipe(field.sentObject, v.description('The keys of the adapter. The server refuses others.')),
    {},
  ),
  permissions: v.optional(
    v.pipe(
      v.strictObject({
        ...Permissions.entries,
        // Sent by clients of similar APIs. There is no such permission here.
        canCreateSkills: v.optional(v.pipe(v.literal(true), v.description('Accepted and ignored.'))),
      }),
      v.description('What the agent may do besides its work. A permission that is left out has its default.'),
    ),
  ),
  sourceIssueId: v.optional(
    v.pipe(
      v.nullable(field.reference),
      v.description('The issue that motivated the hire, by id or identifier. The approval is linked to it.'),
    ),
  ),
  sourceIssueIds: v.optional(v.pipe(v.array(field.reference), v.maxLength(100), v.description('Several such issues.'))),
})
export type NewAgent = v.InferOutput<typeof NewAgent>

/** The body of a PATCH. Configurations are merged key by key, and null removes a key. */
export const AgentChange = v.strictObject({
  name: v.optional(field.name),
  role: v.optional(role),
  ...about,
  adapterType: v.optional(adapterType),
  adapterConfig: v.optional(field.sentObject),
  runtimeConfig: v.optional(field.sentObject),
})
export type AgentChange = v.InferOutput<typeof AgentChange>

export function toAgent(row: AgentWithFacts): Agent {
  return {
    id: row.id,
    companyId: row.company_id,
    name: row.name,
    urlKey: row.url_key,
    role: row.role,
    title: row.title,
    icon: row.icon,
    status: row.shown_status,
    reportsTo: row.reports_to,
    capabilities: row.capabilities,
    adapterType: row.adapter_type,
    adapterConfig: redact(JSON.parse(row.adapter_config)),
    runtimeConfig: JSON.parse(row.runtime_config),
    desiredSkills: JSON.parse(row.desired_skills),
    budgetMonthlyCents: toCents(row.budget_micros),
    spentMonthlyCents: toCents(row.spent_micros),
    budgetStatus: budgetStatus({ budgetMicros: row.budget_micros, spentMicros: row.spent_micros }),
    costMetering: meteringOf(row.adapter_type),
    costMeteringNote: costMeteringNote(row),
    pauseReason: row.pause_reason,
    pauseMessage: row.pause_message,
    pausedAt: row.paused_at,
    errorReason: row.error_reason,
    heldUntil: row.held_until,
    heldBecause: row.held_because,
    permissions: JSON.parse(row.permissions),
    configApproved: row.config_approved === 1,
    unapprovedPaths: JSON.parse(row.unapproved_paths),
    lastHeartbeatAt: row.last_heartbeat_at,
    metadata: row.metadata === null ? null : redact(JSON.parse(row.metadata)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export const toAgentDetail = (
  row: AgentWithFacts,
  { managers, missingSecrets }: { managers: readonly AgentRow[]; missingSecrets: string[] },
): AgentDetail => ({
  ...toAgent(row),
  missingSecrets,
  chainOfCommand: managers.map(({ id, name, role, title }) => ({ id, name, role, title })),
})
