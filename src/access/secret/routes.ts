import * as v from 'valibot'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { agent, board } from '../caller/who.ts'
import { route } from '../route.ts'
import { createSecret, deleteSecret, getSecret, rotateSecret } from './change.ts'
import { listSecretUses, selectSecrets } from './queries.ts'
import { NewSecret, NewValue, Secret, SecretWithUses, toSecret } from './secret.ts'

export const secretRoutes = [
  route({
    id: 'secrets.list',
    method: 'GET',
    path: '/api/companies/:companyId/secrets',
    summary: "List a company's secrets by name; no answer ever holds a value",
    description: 'Agents see them too: which names there are, so that a hire can refer to one.',
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Secret) },
    run: (ctx, { params: { companyId }, query }) =>
      readPage(ctx.db, selectSecrets({ companyId }), query, { by: 'name' }).map(toSecret),
  }),
  route({
    id: 'secrets.create',
    method: 'POST',
    path: '/api/companies/:companyId/secrets',
    summary: 'Store a secret, for an env to refer to as {"$secret": "NAME"}',
    who: [board],
    body: NewSecret,
    responses: { 201: Secret },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toSecret(createSecret(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'secrets.get',
    method: 'GET',
    path: '/api/secrets/:secretId',
    summary: 'Get a secret, without its value, and what refers to it',
    who: [board],
    responses: { 200: SecretWithUses },
    run: (ctx, { caller, params }) => {
      const secret = getSecret(ctx, caller, params.secretId)
      const usedBy = listSecretUses(ctx.db, { companyId: secret.company_id, name: secret.name })
      return { ...toSecret(secret), usedBy }
    },
  }),
  route({
    id: 'secrets.rotate',
    method: 'POST',
    path: '/api/secrets/:secretId/rotate',
    summary: 'Give a secret another value; runs that start from then on get it',
    who: [board],
    body: NewValue,
    responses: { 200: Secret },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toSecret(rotateSecret(ctx, caller, getSecret(ctx, caller, params.secretId), body.value))),
  }),
  route({
    id: 'secrets.delete',
    method: 'DELETE',
    path: '/api/secrets/:secretId',
    summary: 'Delete a secret that nothing refers to, or any with `force=true`',
    who: [board],
    query: v.object({ force: v.optional(v.picklist(['true', 'false'])) }),
    responses: { 200: Secret },
    run: (ctx, { caller, params, query }) =>
      ctx.write(() =>
        toSecret(deleteSecret(ctx, caller, getSecret(ctx, caller, params.secretId), query.force === 'true')),
      ),
  }),
]
