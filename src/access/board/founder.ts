import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import type { Caller } from '../caller/caller.ts'
import { listMemberships, mayCreateCompanies } from './membership-queries.ts'

/**
 * Requires that a person may create companies, according to the current data.
 * The owner of a company decides which programs run on the server's machine.
 * Therefore only the person who set up the server, and owners and admins of a
 * company, may create companies.
 *
 * @throws AppError 403
 */
export function requireFounder(ctx: Context, caller: Caller): void {
  if (caller.type !== 'board' || caller.roles === null) return
  const { userId } = caller
  const isTrusted = listMemberships(ctx.db, { userId }).some(({ role }) => role === 'owner' || role === 'admin')
  if (isTrusted || mayCreateCompanies(ctx.db, { userId })) return
  throw forbidden('Only the person who set this server up, and owners and admins of a company, may create companies.')
}
