import * as v from 'valibot'
import { type ActivityRow, selectActivity } from '../../access/activity/queries.ts'
import * as field from '../../http/fields.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'

/** One activity that a run caused, in the shape that existing clients expect. */
export const RunEvent = v.strictObject({
  id: field.id,
  seq: v.pipe(v.number(), v.integer(), v.description('Orders the events; send the last one as `afterSeq`.')),
  companyId: field.id,
  runId: field.id,
  agentId: v.nullable(field.id),
  eventType: v.pipe(v.string(), v.description('The action of the activity, such as `issue.checked_out`.')),
  entityType: v.string(),
  entityId: v.string(),
  payload: v.pipe(v.nullable(field.jsonObject), v.description('The details of the activity.')),
  createdAt: field.timestamp,
})

const toRunEvent = (row: ActivityRow, runId: string): v.InferOutput<typeof RunEvent> => ({
  id: row.id,
  seq: row.seq,
  companyId: row.company_id,
  runId,
  agentId: row.agent_id,
  eventType: row.action,
  entityType: row.entity_type,
  entityId: row.entity_id,
  payload: row.details === null ? null : JSON.parse(row.details),
  createdAt: row.created_at,
})

/** Lists the activity of a run, oldest first. */
export function listRunEvents(ctx: Context, run: RunRow, { afterSeq, limit }: { afterSeq: number; limit: number }) {
  const rows = selectActivity({ companyId: run.company_id, runId: run.id })
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(limit)
  return ctx.db.all(rows).map((row) => toRunEvent(row, run.id))
}
