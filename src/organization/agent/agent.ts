import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { redact, redactConfig } from '../../access/redaction/redact.ts'
import { METERINGS } from '../../adapter/adapter.ts'
import * as field from '../../http/fields.ts'
import type { AgentTable } from '../../platform/database/tables.ts'
import { BUDGET_STATUSES, budgetStatus } from '../cost/budget.ts'
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
        'Whether it may assign issues to others. If not, it may only take them itself and hand them to the managers above it. Default true.',
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
      'When its program reports what a run costs: `live` (a budget stops a live run), `at_end` (a budget stops the next run) or `none` (only reported cost events count).',
    ),
  ),
  costMeteringNote: v.pipe(
    v.nullable(v.string()),
    v.description('Why its budget cannot stop a live run, or does not count all of its costs; null if it can.'),
  ),
  pauseReason: v.nullable(v.picklist(PAUSE_REASONS)),
  pauseMessage: v.nullable(v.string()),
  pausedAt: v.nullable(field.timestamp),
  errorReason: v.nullable(v.string()),
  heldUntil: v.pipe(v.nullable(field.timestamp), v.description('Its provider refuses it: no run starts before.')),
  heldBecause: v.nullable(v.string()),
  permissions: Permissions,
  configApproved: v.pipe(
    v.boolean(),
    v.description(
      'Whether a person set or approved its configuration. If not, its runs are restricted: the program asks for permissions, paths lead only to allowed folders, and the timer is off.',
    ),
  ),
  unapprovedPaths: v.pipe(
    v.array(v.string()),
    v.description(
      'The keys of adapterConfig that an agent set without the board: paths, which may lead only to allowed folders, and sandbox, which does not turn a sandbox off.',
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
export const AgentDetail = v.strictObject({ ...Agent.entries, chainOfCommand: v.array(Superior) })
export type AgentDetail = v.InferOutput<typeof AgentDetail>

export const role = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a short lower-case word, such as engineer'),
)
export const icon = v.picklist(AGENT_ICONS, 'must be one of the icons that GET /llms/agent-icons.txt lists')

const about = {
  title: v.optional(
    v.pipe(v.nullable(field.name), v.description('What it is called in the organization, for people.')),
  ),
  icon: v.optional(
    v.pipe(v.nullable(icon), v.description('Its picture: one of the names that GET /llms/agent-icons.txt lists.')),
  ),
  reportsTo: v.optional(
    v.pipe(
      v.nullable(field.reference),
      v.description('The manager: an agent of the company, its id or urlKey. An agent that hires is it by default.'),
    ),
  ),
  capabilities: v.optional(
    v.pipe(
      v.nullable(field.text),
      v.description('What it can be asked for; other agents read it to choose whom to ask.'),
    ),
  ),
  desiredSkills: v.optional(
    v.pipe(
      v.array(field.reference),
      v.maxLength(200),
      v.description('Skills of the company, each by its id, its key or its slug if only one has it; stored as keys.'),
    ),
  ),
  runtimeConfig: v.optional(v.pipe(RuntimeConfig, v.description('When it runs.'))),
  budgetMonthlyCents: v.optional(v.pipe(field.cents, v.description('US cents a month; 0 is no limit.'))),
  metadata: v.optional(
    v.pipe(
      v.nullable(field.sentObject),
      v.description('Whatever else is to be kept with it; the service does not read it.'),
    ),
  ),
}

/** The names that clients of similar APIs use for the two local adapters. */
const ADAPTER_ALIASES: Record<string, string> = { claude_local: 'runtimeA_local', codex_local: 'runtimeB_local' }

const adapterType = v.pipe(
  field.reference,
  // The description comes before the transform, because the schema of a request ends there.
  v.description('What runs it: one of the adapters of GET /llms/agent-configuration.txt.'),
  v.transform((type) => ADAPTER_ALIASES[type] ?? type),
  v.string(),
)

/** The body of a creation and of a hire. */
export const NewAgent = v.strictObject({
  name: v.pipe(field.name, v.description('Its name; @Name in a comment wakes it.')),
  role: v.optional(
    v.pipe(
      role,
      v.description('A short lower-case word, such as engineer, researcher or manager. ceo has rights of its own.'),
    ),
    'engineer',
  ),
  ...about,
  adapterType: v.optional(adapterType, 'runtimeA_local'),
  adapterConfig: v.optional(v.pipe(field.sentObject, v.description("The adapter's own keys; others are refused.")), {}),
  sourceIssueId: v.optional(
    v.pipe(
      v.nullable(field.reference),
      v.description('The issue that motivated it, by id or identifier; its approval is linked there.'),
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
    adapterConfig: redactConfig(JSON.parse(row.adapter_config)),
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

export const toAgentDetail = (row: AgentWithFacts, managers: readonly AgentRow[]): AgentDetail => ({
  ...toAgent(row),
  chainOfCommand: managers.map(({ id, name, role, title }) => ({ id, name, role, title })),
})
