import * as v from 'valibot'
import { listMemberships } from '../../access/board/membership-queries.ts'
import { findUser } from '../../access/board/user-queries.ts'
import type { BoardCaller, Caller } from '../../access/caller/caller.ts'
import { ROLES } from '../../access/caller/role.ts'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { alias } from '../../http/route.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { findAgent } from '../agent/queries.ts'

/** The identity of the caller. The fields of the other type are null. */
const Identity = v.strictObject({
  type: v.picklist(['agent', 'user']),
  via: v.pipe(
    v.picklist(['local', 'session', 'token', 'agent_key', 'run_token']),
    v.description('How the caller authenticated; `local` is the board of local trusted mode, where nobody signs in.'),
  ),
  name: v.nullable(v.string()),
  userId: v.nullable(v.string()),
  email: v.nullable(v.string()),
  memberships: v.pipe(
    v.array(v.strictObject({ companyId: field.id, role: v.picklist(ROLES) })),
    v.description('The companies of a person. Empty in local trusted mode, where the board may access all of them.'),
  ),
  agentId: v.nullable(field.id),
  role: v.pipe(v.nullable(v.string()), v.description('The role of an agent.')),
  companyId: v.pipe(v.nullable(field.id), v.description('The company of an agent.')),
  runId: v.pipe(v.nullable(field.id), v.description('The run whose token was used.')),
})
type Identity = v.InferOutput<typeof Identity>

const get = route({
  id: 'whoami.get',
  method: 'GET',
  path: '/api/whoami',
  summary: 'Get the identity of the caller, of any kind',
  who: [board, agent],
  responses: { 200: Identity },
  run: (ctx, { caller }) => identityOf(ctx, caller),
})

/** The identity of the caller, with the alias under which existing clients call it. */
export const whoamiRoutes = [get, alias(get, { id: 'whoami.getAlias', path: '/api/cli-auth/me' })]

function identityOf(ctx: Context, caller: Caller): Identity {
  if (caller.type === 'board') return personOf(ctx, caller)
  if (caller.type !== 'agent') throw forbidden('Only a person or an agent has an identity.')
  return {
    type: 'agent',
    via: caller.runId === null ? 'agent_key' : 'run_token',
    name: findAgent(ctx.db, { id: caller.agentId })?.name ?? null,
    userId: null,
    email: null,
    memberships: [],
    agentId: caller.agentId,
    role: caller.role,
    companyId: caller.companyId,
    runId: caller.runId,
  }
}

function personOf(ctx: Context, { userId, via }: BoardCaller): Identity {
  const user = findUser(ctx.db, { id: userId })
  const memberships = listMemberships(ctx.db, { userId })
  return {
    type: 'user',
    via,
    name: user?.name ?? null,
    userId,
    email: user?.email ?? null,
    memberships: memberships.map(({ company_id, role }) => ({ companyId: company_id, role })),
    agentId: null,
    role: null,
    companyId: null,
    runId: null,
  }
}
