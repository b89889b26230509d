import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { AgentKeyTable } from '../../platform/database/tables.ts'

export const insertKey = (db: Db, row: Insertable<AgentKeyTable>) => db.run(sql.insertInto('agent_key').values(row))

export const findKey = (db: Db, key: { id: string; agentId: string }) =>
  db.first(sql.selectFrom('agent_key').selectAll().where('id', '=', key.id).where('agent_id', '=', key.agentId))

export const selectKeys = (of: { agentId: string }) =>
  sql.selectFrom('agent_key').selectAll().where('agent_id', '=', of.agentId)

/** Returns undefined if there is no such key, or if it was revoked before. */
export const revokeKey = (db: Db, key: { id: string; agentId: string; at: string }) =>
  db.first(
    sql
      .updateTable('agent_key')
      .set({ revoked_at: key.at })
      .where('id', '=', key.id)
      .where('agent_id', '=', key.agentId)
      .where('revoked_at', 'is', null)
      .returningAll(),
  )

export const revokeAllKeys = (db: Db, of: { agentId: string; at: string }) =>
  db.run(
    sql
      .updateTable('agent_key')
      .set({ revoked_at: of.at })
      .where('agent_id', '=', of.agentId)
      .where('revoked_at', 'is', null),
  )
