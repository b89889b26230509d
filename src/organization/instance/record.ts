import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { listCompanyIds } from './queries.ts'

/**
 * Records a change of the instance in every company, because each one must show
 * what affects it, including companies that the operator does not belong to.
 */
export function recordForAll(ctx: Context, operator: Caller, action: Action, details: Record<string, unknown>): void {
  const caller: Caller = operator.type === 'board' ? { ...operator, roles: null } : operator
  for (const companyId of listCompanyIds(ctx.db)) {
    recordActivity(ctx, caller, { companyId, action, entity: { type: 'company', id: companyId }, details })
  }
}
