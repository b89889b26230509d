import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { RoutineRunTable, RoutineTable } from '../../platform/database/tables.ts'
import { PRIORITIES } from '../issue/issue.ts'
import type { Schedule } from './schedule.ts'

export type RoutineRow = Selectable<RoutineTable>
export type RoutineRunRow = Selectable<RoutineRunTable>

const OVERLAPS = ['skip', 'queue', 'allow'] as const
const ROUTINE_STATUSES = ['active', 'paused'] as const

const overlap = v.pipe(
  v.picklist(OVERLAPS),
  v.description(
    'What to do while an issue of the routine is open: `skip` the scheduled time, `queue` one until the issue is closed, or `allow` another issue.',
  ),
)
const status = v.picklist(ROUTINE_STATUSES)

/** A routine as the API returns it. */
export const Routine = v.strictObject({
  id: field.id,
  companyId: field.id,
  title: v.string(),
  description: v.nullable(v.string()),
  priority: v.picklist(PRIORITIES),
  projectId: v.nullable(field.id),
  goalId: v.nullable(field.id),
  parentId: v.nullable(field.id),
  labelIds: v.array(field.id),
  assigneeAgentId: v.nullable(field.id),
  cron: v.nullable(v.string()),
  timeZone: v.nullable(v.string()),
  intervalSec: v.nullable(field.integer),
  overlap,
  status,
  nextDueAt: v.pipe(v.nullable(field.timestamp), v.description('Null while it is paused.')),
  queuedDueAt: v.pipe(
    v.nullable(field.timestamp),
    v.description('The scheduled time that is queued until the open issue is closed.'),
  ),
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})

/** The result of one scheduled time of a routine. */
export const RoutineRun = v.strictObject({
  id: field.id,
  routineId: field.id,
  source: v.picklist(['schedule', 'by_hand']),
  dueAt: field.timestamp,
  firedAt: field.timestamp,
  outcome: v.picklist(['created', 'queued', 'skipped']),
  issueId: v.nullable(field.id),
  reason: v.pipe(v.nullable(v.string()), v.description('Why no issue was created.')),
})

const common = {
  description: v.optional(v.nullable(field.text)),
  priority: v.optional(v.picklist(PRIORITIES)),
  projectId: v.optional(v.nullable(field.reference)),
  goalId: v.optional(v.nullable(field.reference)),
  parentId: v.optional(v.nullable(field.reference)),
  labelIds: v.optional(v.pipe(v.array(field.reference), v.maxLength(100, 'must be at most 100'))),
  cron: v.optional(
    v.pipe(
      v.nullable(field.name),
      v.description('Minute, hour, day of the month, month, day of the week. `0 9 * * 1` means Mondays at 9:00.'),
    ),
  ),
  timeZone: v.optional(v.pipe(v.nullable(field.name), v.description('Such as Europe/Berlin. Default: UTC.'))),
  intervalSec: v.optional(
    v.pipe(v.nullable(v.pipe(v.number(), v.integer())), v.description('Instead of cron; at least 60.')),
  ),
  overlap: v.optional(overlap),
}
const assigneeAgentId = v.pipe(
  field.reference,
  v.description('An agent of the company. If the caller is an agent, one below it.'),
)

export const NewRoutine = v.strictObject({
  title: field.name,
  assigneeAgentId,
  ...common,
  status: v.optional(status),
})
export type NewRoutine = v.InferOutput<typeof NewRoutine>

export const RoutineChange = v.strictObject({
  title: v.optional(field.name),
  assigneeAgentId: v.optional(assigneeAgentId),
  ...common,
  status: v.optional(status),
})
export type RoutineChange = v.InferOutput<typeof RoutineChange>

export const scheduleOf = (row: Pick<RoutineRow, 'cron' | 'time_zone' | 'interval_sec'>): Schedule => ({
  cron: row.cron,
  timeZone: row.time_zone,
  intervalSec: row.interval_sec,
})

export const toRoutine = (row: RoutineRow, labelIds: string[]): v.InferOutput<typeof Routine> => ({
  id: row.id,
  companyId: row.company_id,
  title: row.title,
  description: row.description,
  priority: row.priority,
  projectId: row.project_id,
  goalId: row.goal_id,
  parentId: row.parent_id,
  labelIds,
  assigneeAgentId: row.assignee_agent_id,
  cron: row.cron,
  timeZone: row.cron === null ? null : (row.time_zone ?? 'UTC'),
  intervalSec: row.interval_sec,
  overlap: row.overlap,
  status: row.status,
  nextDueAt: row.next_due_at,
  queuedDueAt: row.queued_due_at,
  createdByAgentId: row.created_by_agent_id,
  createdByUserId: row.created_by_user_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const toRoutineRun = (row: RoutineRunRow): v.InferOutput<typeof RoutineRun> => ({
  id: row.id,
  routineId: row.routine_id,
  source: row.source,
  dueAt: row.due_at,
  firedAt: row.fired_at,
  outcome: row.outcome,
  issueId: row.issue_id,
  reason: row.reason,
})
