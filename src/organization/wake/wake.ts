import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { WakeTable } from '../../platform/database/tables.ts'

/** A durable request that an agent should run. An agent has at most one that is `waiting`. */
export type WakeRow = Selectable<WakeTable>

export const WAKE_SOURCES = [
  'timer',
  'on_demand',
  'issue_assigned',
  'issue_commented',
  'mention',
  'approval_resolved',
  'blockers_resolved',
  'children_done',
  'retry',
] as const
export type WakeSource = (typeof WAKE_SOURCES)[number]

/** One cause of a wake, as the API returns it and as `wake.reasons` and `run.reasons` store it. */
export const Reason = v.strictObject({
  source: v.picklist(WAKE_SOURCES),
  issueId: v.nullable(field.id),
  commentId: v.nullable(field.id),
  approvalId: v.nullable(field.id),
  actorType: v.picklist(['agent', 'user', 'system']),
  actorId: v.string(),
  /** The run that caused it, or null. */
  runId: v.nullable(field.id),
  /** The activity that records the cause; null for a timer, and for causes that record no activity. */
  activityId: v.nullable(field.id),
  at: field.timestamp,
})
export type WakeReason = v.InferOutput<typeof Reason>

/** Reads the JSON column `reasons` of a wake or of a run. */
export const parseReasons = (row: { reasons: string }) => JSON.parse(row.reasons) as WakeReason[]
