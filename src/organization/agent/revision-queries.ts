import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { ConfigRevisionTable } from '../../platform/database/tables.ts'

export const insertRevision = (db: Db, row: Insertable<ConfigRevisionTable>) =>
  db.run(sql.insertInto('config_revision').values(row))

export const findRevision = (db: Db, key: { id: string; agentId: string }) =>
  db.first(sql.selectFrom('config_revision').selectAll().where('id', '=', key.id).where('agent_id', '=', key.agentId))

/** Newest first. */
export function listRevisions(db: Db, filter: { agentId: string; after: string | undefined; limit: number }) {
  const query = sql
    .selectFrom('config_revision')
    .selectAll()
    .where('agent_id', '=', filter.agentId)
    .orderBy('id', 'desc')
    .limit(filter.limit + 1)
  return db.all(filter.after === undefined ? query : query.where('id', '<', filter.after))
}
