import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { createCredential, hashCredential } from '../../platform/credential.ts'
import type { BoardTokenTable } from '../../platform/database/tables.ts'
import { uuid } from '../../platform/uuid.ts'
import type { BoardCaller } from '../caller/caller.ts'
import { assertFuture } from '../caller/credential-expiry.ts'
import { BOARD_TOKEN_PREFIX } from '../caller/credential-prefix.ts'
import { insertToken } from './token-queries.ts'

/** A token as lists return it, with its first characters. */
export const Token = v.strictObject({
  id: field.id,
  name: v.string(),
  prefix: v.string(),
  createdAt: field.timestamp,
  expiresAt: v.pipe(v.nullable(field.timestamp), v.description('Null if the token does not expire.')),
  lastUsedAt: v.nullable(field.timestamp),
  revokedAt: v.nullable(field.timestamp),
})

/** A token as the response to its creation returns it. No other response contains its value. */
export const NewToken = v.strictObject({
  id: field.id,
  name: v.string(),
  token: v.string(),
  createdAt: field.timestamp,
  expiresAt: v.nullable(field.timestamp),
})

export const toToken = (row: Selectable<BoardTokenTable>): v.InferOutput<typeof Token> => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
})

/** Creates a token with the permissions of its person, except those that require a password. */
export function createToken(
  ctx: Context,
  caller: BoardCaller,
  { name, expiresAt = null }: { name: string; expiresAt?: string | null },
): v.InferOutput<typeof NewToken> {
  assertFuture(ctx, expiresAt)
  const token = createCredential(BOARD_TOKEN_PREFIX)
  const id = uuid()
  insertToken(ctx.db, {
    id,
    user_id: caller.userId,
    name,
    prefix: token.slice(0, BOARD_TOKEN_PREFIX.length + 6),
    hash: hashCredential(token),
    created_at: ctx.now,
    expires_at: expiresAt,
  })
  return { id, name, token, createdAt: ctx.now, expiresAt }
}
