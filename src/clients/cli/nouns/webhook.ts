import { DELIVERY_STATUSES, WEBHOOK_STATUSES } from '../../../access/webhook/webhook.ts'
import type { ResponseOf } from '../../client/types.ts'
import { asStarted } from '../command/as-started.ts'
import { choice, clearable, LIMIT, many, text } from '../command/flag.ts'
import { ago, fields, localTime, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, edit, list, noun, remove, view } from '../command/verb.ts'

type Webhook = ResponseOf<'GET /api/webhooks/:webhookId'>

const EVENTS = many(text('--events <actions>', 'separated by commas: issue.created, issue.* (default: all)'))
const DESCRIPTION = text('-d, --description <text>', 'what it is for, in one line')

const NOTE = `The secret that verifies the signatures is printed once. https://www.standardwebhooks.com describes
the signatures. Hosts of private networks need the setting webhookHosts in config.json.`

const idOf = async (scope: Scope, ref: string) => ({ webhookId: await scope.find('webhook', ref) })

const describe = (webhook: Webhook) =>
  fields([
    ['Webhook', webhook.url],
    ['Description', webhook.description],
    ['Events', webhook.events.join(', ')],
    ['Status', statusOf(webhook)],
    ['Changed', localTime(webhook.updatedAt)],
    ['Id', webhook.id],
  ])

const WHY = {
  board: 'by a person',
  failing: 'no delivery succeeded for three days',
  gone: 'the URL responded with 410',
}

function statusOf({ status, disabledWhy, failingSince }: Webhook): string {
  if (disabledWhy !== null) return `disabled: ${WHY[disabledWhy]}`
  return failingSince === null ? status : `failing for ${ago(failingSince)}`
}

const secretLine = ({ secret }: { secret: string }) => `The secret, which is not shown again: ${secret}`

export const webhookCommand = () =>
  noun('webhook', 'Webhooks: URLs that receive the events of a company.', [
    list({
      summary: 'List the webhooks.',
      flags: LIMIT,
      examples: ['webhook list'],
      empty: 'There are no webhooks. Create one with `service webhook create`.',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/webhooks', { params: await scope.inCompany(), query }),
      columns: {
        Host: ({ url }) => new URL(url).host,
        Description: ({ description }) => description,
        Events: ({ events }) => events.join(', '),
        Status: statusOf,
        Id: ({ id }) => shortId(id),
      },
    }),
    view({
      summary: 'Show a webhook.',
      args: ['<webhook>'],
      examples: ['webhook view ci.example.com'],
      load: async (scope, [ref]) =>
        scope.client.request('GET /api/webhooks/:webhookId', { params: await idOf(scope, ref) }),
      text: describe,
    }),
    create({
      summary: 'Send events to a URL, signed.',
      args: ['<url>'],
      flags: { events: EVENTS, description: DESCRIPTION },
      examples: ['webhook create https://hooks.example.net/service --events "issue.*,approval.created"'],
      note: NOTE,
      send: async (scope, [url], body) =>
        scope.client.request('POST /api/companies/:companyId/webhooks', {
          params: await scope.inCompany(),
          body: { ...body, url },
        }),
      text: (webhook) => `The webhook is created.\n${secretLine(webhook)}`,
    }),
    edit({
      summary: 'Change a webhook, disable it, or enable it for the events from now on.',
      args: ['<webhook>'],
      flags: {
        url: text('--endpoint <url>', 'the URL that receives the events'),
        events: EVENTS,
        description: clearable(DESCRIPTION),
        status: choice('-s, --status <status>', WEBHOOK_STATUSES),
      },
      examples: ['webhook edit ci.example.com --events "run.finished"'],
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/webhooks/:webhookId', { params: await idOf(scope, ref), body }),
      text: (webhook) => describe(webhook),
    }),
    act({
      name: 'test',
      summary: 'Queue a delivery of the event webhook.test.',
      args: ['<webhook>'],
      examples: ['webhook test ci.example.com'],
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/webhooks/:webhookId/test', { params: await idOf(scope, ref) }),
      text: () => asStarted('The test is queued. See its result with `service webhook deliveries`.'),
    }),
    list({
      name: 'deliveries',
      summary: 'List the deliveries of a webhook, the latest first.',
      args: ['<webhook>'],
      flags: { ...LIMIT, status: choice('-s, --status <status>', DELIVERY_STATUSES) },
      examples: ['webhook deliveries ci.example.com --status failed'],
      empty: 'There are no deliveries.',
      load: async (scope, query, [ref]) =>
        scope.client.page('GET /api/webhooks/:webhookId/deliveries', { params: await idOf(scope, ref), query }),
      columns: {
        Event: ({ event }) => event,
        Status: ({ status }) => status,
        Attempts: ({ attempts }) => attempts,
        Response: ({ responseStatus, error }) => error ?? responseStatus,
        Created: ({ createdAt }) => ago(createdAt),
        Id: ({ id }) => shortId(id),
      },
    }),
    act({
      name: 'rotate',
      summary: 'Give a webhook another secret.',
      args: ['<webhook>'],
      examples: ['webhook rotate ci.example.com'],
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/webhooks/:webhookId/rotate-secret', { params: await idOf(scope, ref) }),
      text: secretLine,
    }),
    remove({
      summary: 'Delete a webhook with its deliveries.',
      args: ['<webhook>'],
      examples: ['webhook delete ci.example.com --yes'],
      ask: ([ref]) => `Delete the webhook ${ref}?`,
      send: async (scope, [ref]) =>
        scope.client.request('DELETE /api/webhooks/:webhookId', { params: await idOf(scope, ref) }),
      text: ({ url }) => `The webhook ${new URL(url).host} is deleted.`,
    }),
  ])
