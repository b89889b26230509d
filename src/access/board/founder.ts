import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import type { Caller } from '../caller/caller.ts'
import { mayCreateCompanies } from './membership-queries.ts'

/**
 * Refuses to let just anybody found a company: whoever owns one decides which
 * programs run on the server's machine. Who set the server up may, and who is
 * trusted with that in some company already.
 */
export function requireFounder(ctx: Context, caller: Caller): void {
  if (caller.type !== 'board' || caller.roles === null) return
  const isTrusted = [...caller.roles.values()].some((role) => role === 'owner' || role === 'admin')
  if (isTrusted || mayCreateCompanies(ctx.db, { userId: caller.userId })) return
  throw forbidden('Only who set this server up, and owners and admins of a company, may create another.')
}
