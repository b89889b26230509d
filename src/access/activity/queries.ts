import type { Selectable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { ActivityTable } from '../../platform/database/tables.ts'

export type ActivityRow = Selectable<ActivityTable>

const last = prepared((of: { companyId: string }) =>
  sql.selectFrom('activity').select('hash').where('company_id', '=', of.companyId).orderBy('seq', 'desc').limit(1),
)

/** Returns the hash of the company's latest row, which the next row includes. */
export const lastHash = (db: Db, of: { companyId: string }) => db.first(last(of))

const insert = prepared((row: Omit<ActivityRow, 'seq'>) =>
  sql.insertInto('activity').values({
    id: row.id,
    company_id: row.company_id,
    actor_type: row.actor_type,
    actor_id: row.actor_id,
    action: row.action,
    entity_type: row.entity_type,
    entity_id: row.entity_id,
    agent_id: row.agent_id,
    run_id: row.run_id,
    details: row.details,
    created_at: row.created_at,
    previous_hash: row.previous_hash,
    hash: row.hash,
  }),
)

export const insertActivity = (db: Db, row: Omit<ActivityRow, 'seq'>) => db.run(insert(row))

const activityAfter = prepared((of: { companyId: string; after: number; limit: number }) =>
  sql
    .selectFrom('activity')
    .selectAll()
    .where('company_id', '=', of.companyId)
    .where('seq', '>', of.after)
    .orderBy('seq')
    .limit(of.limit),
)

/** Lists the activity of a company after a position, oldest first. */
export const listActivityAfter = (db: Db, of: { companyId: string; after: number; limit: number }): ActivityRow[] =>
  db.all(activityAfter(of))

export interface ActivityFilter {
  companyId: string
  agentId?: string | undefined
  entityType?: string | undefined
  entityId?: string | undefined
  action?: string | undefined
  /** Actions that are left out. */
  without?: readonly string[] | undefined
  runId?: string | undefined
  since?: string | undefined
}

/** Returns the latest activity that matches a filter, newest first. */
export const listActivity = (db: Db, filter: ActivityFilter, limit: number): ActivityRow[] =>
  db.all(selectActivity(filter).orderBy('seq', 'desc').limit(limit))

export function selectActivity(filter: ActivityFilter) {
  const { companyId, entityId } = filter
  const all = sql.selectFrom('activity').selectAll()
  let query =
    entityId === undefined
      ? all.where('company_id', '=', companyId)
      : // The plus keeps SQLite from the index by company.
        all.where('entity_id', '=', entityId).where(raw<string>`+company_id`, '=', companyId)
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
  if (filter.entityType !== undefined) query = query.where('entity_type', '=', filter.entityType)
  if (filter.action !== undefined) query = query.where('action', '=', filter.action)
  if (filter.without?.length) query = query.where('action', 'not in', [...filter.without])
  if (filter.runId !== undefined) query = query.where('run_id', '=', filter.runId)
  if (filter.since !== undefined) query = query.where('created_at', '>=', filter.since)
  return query
}
