import * as v from 'valibot'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { board } from '../caller/who.ts'
import { route } from '../route.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhookBy,
} from './change.ts'
import { selectDeliveries, selectWebhooks } from './queries.ts'
import {
  DELIVERY_STATUSES,
  Delivery,
  NewWebhook,
  toDelivery,
  toWebhook,
  Webhook,
  WebhookPatch,
  WebhookWithSecret,
} from './webhook.ts'

export const webhookRoutes = [
  route({
    id: 'webhooks.list',
    method: 'GET',
    path: '/api/companies/:companyId/webhooks',
    summary: "List a company's webhooks",
    who: [board],
    role: 'admin',
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Webhook) },
    run: (ctx, { params: { companyId }, query }) =>
      readPage(ctx.db, selectWebhooks({ companyId }), query, { by: 'id' }).map(toWebhook),
  }),
  route({
    id: 'webhooks.create',
    method: 'POST',
    path: '/api/companies/:companyId/webhooks',
    summary: 'Send the events of a company to a URL, signed',
    description: 'The response contains the secret that verifies the signatures. No other response does.',
    who: [board],
    body: NewWebhook,
    secret: true,
    responses: { 201: WebhookWithSecret },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => withSecret(createWebhook(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'webhooks.get',
    method: 'GET',
    path: '/api/webhooks/:webhookId',
    summary: 'Get a webhook, without its secret',
    who: [board],
    role: 'admin',
    responses: { 200: Webhook },
    run: (ctx, { caller, params }) => toWebhook(getWebhook(ctx, caller, params.webhookId)),
  }),
  route({
    id: 'webhooks.update',
    method: 'PATCH',
    path: '/api/webhooks/:webhookId',
    summary: 'Change a webhook, disable it, or enable it for the events from now on',
    who: [board],
    body: WebhookPatch,
    responses: { 200: Webhook },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toWebhook(updateWebhookBy(ctx, caller, getWebhook(ctx, caller, params.webhookId), body))),
  }),
  route({
    id: 'webhooks.delete',
    method: 'DELETE',
    path: '/api/webhooks/:webhookId',
    summary: 'Delete a webhook with its deliveries',
    who: [board],
    responses: { 200: Webhook },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toWebhook(deleteWebhook(ctx, caller, getWebhook(ctx, caller, params.webhookId)))),
  }),
  route({
    id: 'webhooks.rotateSecret',
    method: 'POST',
    path: '/api/webhooks/:webhookId/rotate-secret',
    summary: 'Give a webhook another secret, which signs from then on',
    who: [board],
    secret: true,
    responses: { 200: WebhookWithSecret },
    run: (ctx, { caller, params }) =>
      ctx.write(() => withSecret(rotateWebhookSecret(ctx, caller, getWebhook(ctx, caller, params.webhookId)))),
  }),
  route({
    id: 'webhooks.test',
    method: 'POST',
    path: '/api/webhooks/:webhookId/test',
    summary: 'Queue a delivery of the event `webhook.test`',
    who: [board],
    responses: { 202: Delivery },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toDelivery(testWebhook(ctx, caller, getWebhook(ctx, caller, params.webhookId)))),
  }),
  route({
    id: 'webhooks.deliveries',
    method: 'GET',
    path: '/api/webhooks/:webhookId/deliveries',
    summary: 'List the deliveries of a webhook, the latest first',
    description: 'A delivery is kept for 30 days after its end.',
    who: [board],
    role: 'admin',
    query: v.object({ ...LIST_QUERY, status: v.optional(v.picklist(DELIVERY_STATUSES)) }),
    responses: { 200: v.array(Delivery) },
    run: (ctx, { caller, params, query }) => {
      const { id } = getWebhook(ctx, caller, params.webhookId)
      const rows = selectDeliveries({ webhookId: id, status: query.status })
      return readPage(ctx.db, rows, query, { by: 'id', direction: 'desc' }).map(toDelivery)
    },
  }),
]

const withSecret = ({ row, secret }: ReturnType<typeof createWebhook>) => ({ ...toWebhook(row), secret })
