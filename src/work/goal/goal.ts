import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { GoalTable } from '../../platform/database/tables.ts'

/** From the top down. */
export const GOAL_LEVELS = ['company', 'team', 'agent', 'task'] as const
export const GOAL_STATUSES = ['planned', 'active', 'achieved', 'cancelled'] as const

export type GoalRow = Selectable<GoalTable>
export type GoalLevel = GoalRow['level']

/** A goal as the API returns it. */
export const Goal = v.strictObject({
  id: field.id,
  companyId: field.id,
  title: v.string(),
  description: v.nullable(v.string()),
  level: v.picklist(GOAL_LEVELS),
  status: v.picklist(GOAL_STATUSES),
  parentId: v.nullable(field.id),
  ownerAgentId: v.nullable(field.id),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Goal = v.InferOutput<typeof Goal>

const level = v.pipe(
  v.picklist(GOAL_LEVELS),
  v.description('Not above the level of the parent. Default: one below the parent; without a parent, `company`.'),
)

export const NewGoal = v.strictObject({
  title: field.name,
  description: v.optional(v.nullable(field.text)),
  level: v.optional(level),
  status: v.optional(v.picklist(GOAL_STATUSES)),
  parentId: v.optional(v.nullable(field.reference)),
  ownerAgentId: v.optional(v.nullable(field.reference)),
})
export type NewGoal = v.InferOutput<typeof NewGoal>

export const GoalChange = v.strictObject({
  title: v.optional(field.name),
  description: v.optional(v.nullable(field.text)),
  level: v.optional(level),
  status: v.optional(v.picklist(GOAL_STATUSES)),
  parentId: v.optional(v.nullable(field.reference)),
  ownerAgentId: v.optional(v.nullable(field.reference)),
})
export type GoalChange = v.InferOutput<typeof GoalChange>

export const toGoal = (row: GoalRow): Goal => ({
  id: row.id,
  companyId: row.company_id,
  title: row.title,
  description: row.description,
  level: row.level,
  status: row.status,
  parentId: row.parent_id,
  ownerAgentId: row.owner_agent_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
