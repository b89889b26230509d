import type { Insertable } from 'kysely'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import type { BoardTokenTable } from '../../platform/database/tables.ts'

const userOfToken = prepared((key: { hash: string }) =>
  sql
    .selectFrom('board_token')
    .select(['id', 'user_id', 'revoked_at', 'expires_at', 'last_used_at'])
    .where('hash', '=', key.hash),
)

/** Finds the user of a token by its hash. The token may be revoked. */
export const findUserOfToken = (db: Db, key: { hash: string }) => db.first(userOfToken(key))

export const insertToken = (db: Db, row: Insertable<BoardTokenTable>) =>
  db.run(sql.insertInto('board_token').values(row))

export const selectTokens = (of: { userId: string }) =>
  sql.selectFrom('board_token').selectAll().where('user_id', '=', of.userId)

/** Returns the oldest tokens of a user that are not revoked. */
export const listLiveTokens = (db: Db, of: { userId: string; limit: number }) =>
  db.all(selectTokens(of).where('revoked_at', 'is', null).orderBy('id').limit(of.limit))

/** Revokes a token. Revoking it again is a no-op. Returns undefined if the user has no such token. */
export const revokeToken = (db: Db, key: { id: string; userId: string; at: string }) =>
  db.first(
    sql
      .updateTable('board_token')
      .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(key.at)) }))
      .where('id', '=', key.id)
      .where('user_id', '=', key.userId)
      .returningAll(),
  )

/** Records the use of a token, at most once a minute. */
export function noteTokenUse(ctx: Context, token: { id: string; last_used_at: string | null }): void {
  const at = ctx.now
  if (token.last_used_at && Date.parse(at) - Date.parse(token.last_used_at) < 60_000) return
  ctx
    .write(() => ctx.db.run(sql.updateTable('board_token').set({ last_used_at: at }).where('id', '=', token.id)))
    .catch((error) => ctx.log.error('The use of a token was not recorded.', { token: token.id, error: String(error) }))
}
