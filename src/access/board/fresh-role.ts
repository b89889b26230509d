import type { Context } from '../../platform/context.ts'
import type { Caller } from '../caller/caller.ts'
import { includesRole, type Role, roleTooLow } from '../caller/role.ts'
import { findMembership } from './membership-queries.ts'

/**
 * Requires a role of a person as the database has it now. For two cases that
 * the check before the use case does not cover: a field that requires more than
 * the endpoint does, and work that took seconds since the request was authorized
 * (an import that fetched a repository). Inside a write, the result holds until
 * the commit.
 *
 * @param least default: the role that the endpoint requires
 */
export function requireRole(ctx: Context, caller: Caller, companyId: string, least?: Role): void {
  if (caller.type !== 'board' || caller.roles === null) return
  const required = least ?? caller.requiredRole
  const role = findMembership(ctx.db, { companyId, userId: caller.userId })?.role
  if (!role || !includesRole(role, required)) throw roleTooLow(role, required)
}
