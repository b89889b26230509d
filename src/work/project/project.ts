import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { redact } from '../../access/redaction/redact.ts'
import { Env } from '../../adapter/config.ts'
import * as field from '../../http/fields.ts'
import { placementReference } from '../../organization/placement/placement.ts'
import type { ProjectTable } from '../../platform/database/tables.ts'
import { Goal } from '../goal/goal.ts'
import { NewWorkspace, Workspace } from './workspace.ts'

export const PROJECT_STATUSES = ['backlog', 'planned', 'active', 'in_progress', 'completed', 'cancelled'] as const

export type ProjectRow = Selectable<ProjectTable>

/** A project as the API returns it, with its goals and workspaces. */
export const Project = v.strictObject({
  id: field.id,
  companyId: field.id,
  name: v.string(),
  urlKey: v.string(),
  description: v.nullable(v.string()),
  status: v.picklist(PROJECT_STATUSES),
  goalId: v.pipe(v.nullable(field.id), v.description('The first of goalIds.')),
  goalIds: v.array(field.id),
  goals: v.array(Goal),
  leadAgentId: v.nullable(field.id),
  targetDate: v.nullable(v.pipe(v.string(), v.isoDate())),
  env: v.pipe(field.jsonObject, v.description('Values are returned as `[redacted]`, references to secrets unchanged.')),
  placement: v.pipe(
    v.nullable(v.string()),
    v.description('Where the runs on its issues execute, unless their agent says; null for the default.'),
  ),
  archivedAt: v.nullable(field.timestamp),
  primaryWorkspace: v.nullable(Workspace),
  workspaces: v.array(Workspace),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Project = v.InferOutput<typeof Project>

const goalIds = v.pipe(v.array(field.reference), v.maxLength(100, 'must be at most 100 goals'))

/** A date. Of a timestamp, the date is used. */
const day = v.pipe(
  v.string(),
  v.maxLength(field.MAX_TIME),
  v.regex(/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/, 'must be a date like 2026-11-30'),
  v.transform((date) => date.slice(0, 10)),
  v.check(field.hasExistingDay, 'must be a date that exists'),
)

const ProjectFields = {
  description: v.optional(v.nullable(field.text)),
  status: v.optional(v.picklist(PROJECT_STATUSES)),
  goalId: v.optional(v.pipe(v.nullable(field.reference), v.description('The first of goalIds.'))),
  goalIds: v.optional(goalIds),
  leadAgentId: v.optional(v.nullable(field.reference)),
  targetDate: v.optional(v.nullable(day)),
  placement: v.optional(
    v.pipe(
      v.nullable(placementReference),
      v.description(
        'Where the runs on its issues execute, unless their agent says: the name of a placement, `local`, or null for the default of the instance. The board alone sets it.',
      ),
    ),
  ),
  env: v.optional(
    v.pipe(
      Env,
      v.description(
        'Environment variables for the runs on its issues, each a text or {"$secret": "NAME"}. Variables of the agent override them. Only the board may set them. The new value replaces all of them; the placeholder `[redacted]` keeps a stored value.',
      ),
    ),
  ),
}

export const NewProject = v.strictObject({
  name: v.pipe(field.name, v.examples(['Atlas'])),
  ...ProjectFields,
  workspace: v.optional(v.nullable(NewWorkspace)),
})
export type NewProject = v.InferOutput<typeof NewProject>

export const ProjectChange = v.strictObject({
  name: v.optional(v.pipe(field.name, v.examples(['Atlas']))),
  ...ProjectFields,
  archivedAt: v.optional(v.nullable(field.sentTimestamp)),
})
export type ProjectChange = v.InferOutput<typeof ProjectChange>

/**
 * @param parts.goals in the project's order
 * @param parts.workspaces oldest first
 */
export const toProject = (row: ProjectRow, parts: { goals: Goal[]; workspaces: Workspace[] }): Project => ({
  id: row.id,
  companyId: row.company_id,
  name: row.name,
  urlKey: row.url_key,
  description: row.description,
  status: row.status,
  goalId: parts.goals[0]?.id ?? null,
  goalIds: parts.goals.map((goal) => goal.id),
  goals: parts.goals,
  leadAgentId: row.lead_agent_id,
  targetDate: row.target_date,
  env: redact({ env: JSON.parse(row.env) }).env as Record<string, unknown>,
  placement: row.placement,
  archivedAt: row.archived_at,
  primaryWorkspace: parts.workspaces.find((workspace) => workspace.isPrimary) ?? null,
  workspaces: parts.workspaces,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
