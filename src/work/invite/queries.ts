import type { Insertable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { InviteTable } from '../../platform/database/tables.ts'
import type { InviteRow } from './invite.ts'

export const insertInvite = (db: Db, row: Insertable<InviteTable>): InviteRow =>
  db.first(sql.insertInto('invite').values(row).returningAll())!

export const findInvite = (db: Db, key: { id: string }): InviteRow | undefined =>
  db.first(sql.selectFrom('invite').selectAll().where('id', '=', key.id))

export const findInviteByToken = (db: Db, key: { hash: string }): InviteRow | undefined =>
  db.first(sql.selectFrom('invite').selectAll().where('token_hash', '=', key.hash))

export const selectInvites = (of: { companyId: string }) =>
  sql.selectFrom('invite').selectAll().where('company_id', '=', of.companyId)

/** Marks an invite as accepted by an agent. Returns undefined if it can no longer be accepted. */
export const acceptInvite = (
  db: Db,
  of: { id: string; agentId: string; claimHash: string; claimExpiresAt: string; at: string },
): InviteRow | undefined =>
  db.first(
    sql
      .updateTable('invite')
      .set({
        accepted_at: of.at,
        agent_id: of.agentId,
        claim_hash: of.claimHash,
        claim_expires_at: of.claimExpiresAt,
      })
      .where('id', '=', of.id)
      .where('accepted_at', 'is', null)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', of.at)
      .returningAll(),
  )

/** Marks the key of an invite as claimed. Returns undefined if it was claimed before or is revoked. */
export const takeClaim = (db: Db, of: { id: string; claimHash: string; at: string }): InviteRow | undefined =>
  db.first(
    sql
      .updateTable('invite')
      .set({ claimed_at: of.at })
      .where('id', '=', of.id)
      .where('claim_hash', '=', of.claimHash)
      .where('claimed_at', 'is', null)
      .where('revoked_at', 'is', null)
      .where('claim_expires_at', '>', of.at)
      .returningAll(),
  )

/** Returns undefined if it was revoked before. */
export const revoke = (db: Db, of: { id: string; at: string }): InviteRow | undefined =>
  db.first(
    sql
      .updateTable('invite')
      .set({ revoked_at: of.at })
      .where('id', '=', of.id)
      .where('revoked_at', 'is', null)
      .returningAll(),
  )
