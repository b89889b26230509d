import type { Context } from '../../platform/context.ts'
import type { Caller } from '../caller/caller.ts'
import { includesRole, type Role, roleTooLow } from '../caller/role.ts'
import { requireCompanyAccess } from '../caller/visibility.ts'
import { findMembership } from './membership-queries.ts'

/**
 * Requires a role of a person, according to the current data. Two cases need it
 * besides the check before the use case: a field that requires a higher role
 * than the endpoint, and work that took seconds since the request was
 * authorized, such as an import from a repository. Inside a write, the result
 * holds until the commit.
 *
 * @param least default: the role that the endpoint requires
 */
export function requireRole(ctx: Context, caller: Caller, companyId: string, least?: Role): void {
  if (caller.type !== 'board' || caller.roles === null) return
  const required = least ?? caller.requiredRole
  const role = findMembership(ctx.db, { companyId, userId: caller.userId })?.role
  if (!role || !includesRole(role, required)) throw roleTooLow(role, required)
}

/**
 * Checks a caller's access to a company again, inside the write after work of
 * seconds. Meanwhile the person may have lost the role, or the company may have
 * been archived or deleted.
 *
 * @throws AppError 403, 404 or 422
 */
export function recheckCompanyAccess(ctx: Context, caller: Caller, companyId: string): void {
  requireCompanyAccess(ctx, caller, companyId)
  requireRole(ctx, caller, companyId)
}
