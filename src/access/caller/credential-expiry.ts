import type { Context } from '../../platform/context.ts'
import { unprocessable } from '../../platform/errors.ts'

/** Whether a stored credential works: it is neither revoked nor expired. */
export const isLive = (ctx: Context, row: { revoked_at: string | null; expires_at: string | null }): boolean =>
  row.revoked_at === null && (row.expires_at === null || row.expires_at > ctx.now)

/** @throws AppError 422 if a credential would expire before it is used */
export function assertFuture(ctx: Context, expiresAt: string | null): void {
  if (expiresAt !== null && expiresAt <= ctx.now) throw unprocessable('expiresAt', 'must be in the future')
}
