import type { Audience, Endpoint } from '../../http/route.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { boardCaller } from '../board/board-caller.ts'
import { type Caller, LOCAL_BOARD } from '../caller/caller.ts'
import { requiredRole } from '../caller/role.ts'
import { requireCompanyAccess } from '../caller/visibility.ts'
import type { Who } from '../caller/who.ts'
import type { Principal } from './authenticate.ts'

/**
 * Authorizes a request and returns its caller. Checks the type of caller, the
 * company in the path, the person's role, and that the request does not change
 * an archived company. It runs right before the use case, after the body has
 * arrived. A permission that is revoked during a slow upload is not accepted.
 *
 * @throws AppError 403, 404 or 422
 */
export function authorize(
  ctx: Context,
  principal: Principal,
  endpoint: Endpoint,
  companyId: string | undefined,
): Caller {
  const caller = callerOf(ctx, principal, endpoint)
  if (companyId !== undefined) requireCompanyAccess(ctx, caller, companyId)
  const allowed = endpoint.who as readonly Audience[] as readonly Who[]
  if (!allowed.some((who) => who.allows(ctx, caller))) {
    throw forbidden(`Only ${allowed.map((who) => who.name).join(' and ')} may do this.`)
  }
  return caller
}

function callerOf(ctx: Context, principal: Principal, endpoint: Endpoint): Caller {
  if (principal.type === 'anonymous') return principal
  const isWrite = endpoint.method !== 'GET' && !endpoint.allowsArchived
  if (principal.type === 'agent') {
    const { scope, ...agent } = principal
    if (scope === 'read' && endpoint.method !== 'GET') {
      throw forbidden('This key has the scope read. Use a key with the scope work.', { scope })
    }
    return { ...agent, isWrite }
  }
  const required = { requiredRole: requiredRole(endpoint as never), isWrite }
  if (principal.via === 'local') return { ...LOCAL_BOARD, ...required }
  return { ...boardCaller(ctx, principal.userId, principal.via), ...required }
}
