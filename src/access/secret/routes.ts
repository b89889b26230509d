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
    summary: 'List the secrets of a company by name. Responses never contain values',
    description: 'Agents may list them too, because a hire can refer to a secret by its name.',
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
    summary: 'Store a secret. An env refers to it as {"$secret": "NAME"}',
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
    summary: 'Get a secret without its value, and the records that refer to it',
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
    summary: 'Rotate a secret. Runs that start later receive the new value',
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
