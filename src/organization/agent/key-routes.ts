import * as v from 'valibot'
import { actorOf, KEY_SCOPES } from '../../access/caller/caller.ts'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { limitRate } from '../../http/rate-limit.ts'
import { getAgent } from './get.ts'
import { selectKeys } from './key-queries.ts'
import { assertMayManageKeys, createKey, Key, NewKey, revokeKey, toKey } from './keys.ts'
import { AGENT_QUERY } from './show.ts'

export const keyRoutes = [
  route({
    id: 'agents.createKey',
    method: 'POST',
    path: '/api/agents/:agentId/keys',
    summary: 'Create a long-lived key, which only this response contains',
    description:
      'For the board, and for the agent itself with an existing key. The token of a run receives a 403. A key with the scope `read` allows only GET. An agent that is pending approval cannot have a key (422).',
    who: [board, agent],
    limits: ['key'],
    query: AGENT_QUERY,
    body: v.strictObject({
      name: v.optional(field.name, 'key'),
      scope: v.optional(
        v.union(
          // Clients of similar APIs always send the object.
          [v.picklist(KEY_SCOPES), v.strictObject({ kind: v.literal('standard') })],
          'must be read or work',
        ),
        'work',
      ),
      expiresAt: v.optional(v.nullable(field.expiry), null),
    }),
    bodyOptional: true,
    secret: true,
    responses: { 201: NewKey },
    run: (ctx, { caller, params, query, body }) => {
      limitRate(ctx, ctx.signIn.rates, 'key', actorOf(caller).id)
      return ctx.write(() => {
        const scope = body.scope === 'read' ? 'read' : 'work'
        return createKey(ctx, caller, getAgent(ctx, caller, params.agentId, query.companyId), { ...body, scope })
      })
    },
  }),
  route({
    id: 'agents.listKeys',
    method: 'GET',
    path: '/api/agents/:agentId/keys',
    summary: "List an agent's keys by their first characters, oldest first",
    who: [board, agent],
    role: 'admin',
    query: v.object({ ...LIST_QUERY, ...AGENT_QUERY.entries }),
    responses: { 200: v.array(Key) },
    run: (ctx, { caller, params, query }) => {
      const of = getAgent(ctx, caller, params.agentId, query.companyId)
      assertMayManageKeys(caller, of)
      return readPage(ctx.db, selectKeys({ agentId: of.id }), query, { by: 'id' }).map(toKey)
    },
  }),
  route({
    id: 'agents.revokeKey',
    method: 'DELETE',
    path: '/api/agents/:agentId/keys/:keyId',
    summary: 'Revoke a key',
    who: [board, agent],
    query: AGENT_QUERY,
    responses: { 200: Key },
    run: (ctx, { caller, params, query }) =>
      ctx.write(() =>
        toKey(revokeKey(ctx, caller, getAgent(ctx, caller, params.agentId, query.companyId), params.keyId)),
      ),
  }),
]
