import type { Context } from '../../platform/context.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import { belongsTo, type Caller } from './caller.ts'
import { includesRole, roleTooLow } from './role.ts'

/**
 * Returns the row if the caller may access it. Every entity that a request
 * names by its id passes this check. A row of another company has the same
 * error as a missing one, so that a caller cannot detect that it exists.
 *
 * @param noun for the error message, such as `issue`
 * @param ref the id in the request
 * @throws AppError 404 if there is no such row for this caller, 403 if the
 *   person's role is too low, 422 if the request changes something and the
 *   company is archived
 */
export function requireVisible<Row extends { company_id: string }>(
  ctx: Context,
  caller: Caller,
  row: Row | undefined,
  noun: string,
  ref: string,
): Row {
  if (!row || !belongsTo(caller, row.company_id)) throw notFound(noun, ref)
  // Its company exists, so that a read needs no query.
  if (isWriter(caller)) requireCompanyAccess(ctx, caller, row.company_id)
  else requireRole(caller, row.company_id)
  return row
}

/**
 * Requires that the caller belongs to a company, with the role that the request
 * requires, and that the company accepts changes if the request makes some.
 *
 * @throws AppError 403 `wrong_company` or `forbidden`, 404 if the company does not exist, 422 if it is archived
 */
export function requireCompanyAccess(ctx: Context, caller: Caller, companyId: string): void {
  if (caller.type === 'system') return
  if (!belongsTo(caller, companyId)) throw new AppError('wrong_company', 'You are not a member of this company.')
  requireRole(caller, companyId)
  const company = ctx.db.first(companyStatus({ companyId }))
  if (!company) throw notFound('company', companyId)
  if (isWriter(caller) && company.status === 'archived') {
    throw new AppError('semantic', 'This company is archived and read-only. Set its status to active first.')
  }
}

/** Whether the request of a caller changes data of a company. */
const isWriter = (caller: Caller) => caller.type !== 'anonymous' && caller.type !== 'system' && caller.isWrite

function requireRole(caller: Caller, companyId: string): void {
  const role = caller.type === 'board' ? caller.roles?.get(companyId) : undefined
  if (caller.type === 'board' && role && !includesRole(role, caller.requiredRole)) {
    throw roleTooLow(role, caller.requiredRole)
  }
}

const companyStatus = prepared((key: { companyId: string }) =>
  sql.selectFrom('company').select('status').where('id', '=', key.companyId),
)
