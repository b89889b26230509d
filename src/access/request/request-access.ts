import type { RequestAccess } from '../../http/access.ts'
import { isLimitOfNetwork, limitRate, networkOf } from '../../http/rate-limit.ts'
import { spanOfId } from '../../platform/tracer.ts'
import type { AccessContext } from '../auth/sign-in.ts'
import { actorOf, type Caller } from '../caller/caller.ts'
import { anyone } from '../caller/who.ts'
import { type AgentCredentials, authenticate, type Principal } from './authenticate.ts'
import { authorize } from './authorize.ts'

/** Connects the HTTP layer to authentication and authorization. */
export const createRequestAccess = (
  ctx: AccessContext,
  agents: AgentCredentials,
): RequestAccess<Principal, Caller> => ({
  limitNetwork({ limits = [] }, address) {
    for (const limit of limits.filter(isLimitOfNetwork)) limitRate(ctx, ctx.signIn.rates, limit, networkOf(address))
  },
  authenticate: (credentials, { who, acceptsEndedRun = false }) =>
    authenticate(ctx, agents, credentials, { isOpen: who.includes(anyone), acceptsEndedRun }),
  authorize: (principal, endpoint, companyId) => authorize(ctx, principal, endpoint, companyId),
  spanOfRun(principal) {
    if (principal.type === 'anonymous') return undefined
    return principal.type === 'agent' && principal.runId !== null ? spanOfId(principal.runId) : null
  },
  callerKey(caller) {
    if (caller.type === 'anonymous') return undefined
    const { type, id } = actorOf(caller)
    return `${type}:${id}`
  },
})
