import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { ConfigRevisionTable } from '../../platform/database/tables.ts'

export const insertRevision = (db: Db, row: Insertable<ConfigRevisionTable>) =>
  db.run(sql.insertInto('config_revision').values(row))

export const findRevision = (db: Db, key: { id: string; agentId: string }) =>
  db.first(sql.selectFrom('config_revision').selectAll().where('id', '=', key.id).where('agent_id', '=', key.agentId))

export const selectRevisions = (of: { agentId: string }) =>
  sql.selectFrom('config_revision').selectAll().where('agent_id', '=', of.agentId)

export const findLatestRevision = (db: Db, of: { agentId: string }) =>
  db.first(selectRevisions(of).orderBy('id', 'desc').limit(1))
