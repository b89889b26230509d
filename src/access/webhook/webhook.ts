import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { WebhookDeliveryTable, WebhookTable } from '../../platform/database/tables.ts'
import type { Place } from '../../platform/vault.ts'
import { describeUnknownEvent, isEventPattern } from './event-patterns.ts'

export type WebhookRow = Selectable<WebhookTable>
export type DeliveryRow = Selectable<WebhookDeliveryTable>

/** The largest number of webhooks that a company has. */
export const MAX_WEBHOOKS = 100

/** The event of a delivery that a person requests as a test. */
export const TEST_EVENT = 'webhook.test'

const url = v.pipe(
  v.string(),
  v.maxLength(2_000, 'must be at most 2,000 characters'),
  v.check((text) => {
    const parsed = URL.parse(text)
    return parsed !== null && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password && !parsed.hash
  }, 'must be an https URL without a user name, a password and a fragment'),
  v.description('An https URL. `http` and hosts of private networks need the setting `webhookHosts`.'),
  v.examples(['https://ci.example.com/hooks/service']),
)

/** Counted before the events are compared with the known ones, which takes 0.3 ms for each unknown one. */
const events = v.pipe(
  v.array(v.string()),
  v.minLength(1, 'must not be empty'),
  v.maxLength(50),
  v.checkItems(isEventPattern, (issue) => describeUnknownEvent(issue.input)),
  v.description('The actions of the activity that are sent: `issue.created`, all of a noun (`issue.*`) or all (`*`).'),
  v.examples([['issue.*', 'approval.created']]),
)

export const WEBHOOK_STATUSES = ['active', 'disabled'] as const

/** A webhook as the API returns it, without its secret. */
export const Webhook = v.strictObject({
  id: field.id,
  companyId: field.id,
  description: v.nullable(v.string()),
  url: v.string(),
  events: v.array(v.string()),
  status: v.picklist(WEBHOOK_STATUSES),
  disabledAt: v.nullable(field.timestamp),
  disabledWhy: v.pipe(
    v.nullable(v.picklist(['board', 'failing', 'gone'])),
    v.description(
      'board: a person did it; failing: no delivery succeeded for three days; gone: the URL responded with 410.',
    ),
  ),
  failingSince: v.pipe(
    v.nullable(field.timestamp),
    v.description('The first failed attempt after the last delivery that succeeded.'),
  ),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Webhook = v.InferOutput<typeof Webhook>

const secret = v.pipe(v.string(), v.description('Verifies the signatures. It is shown once.'))

export const WebhookWithSecret = v.strictObject({ ...Webhook.entries, secret })

export const NewWebhook = v.strictObject({
  url,
  events: v.optional(events, ['*']),
  description: v.optional(v.nullable(field.name)),
})
export type NewWebhook = v.InferOutput<typeof NewWebhook>

export const WebhookPatch = v.strictObject({
  url: v.optional(url),
  events: v.optional(events),
  description: v.optional(v.nullable(field.name)),
  status: v.optional(v.picklist(WEBHOOK_STATUSES)),
})
export type WebhookPatch = v.InferOutput<typeof WebhookPatch>

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

export const Delivery = v.strictObject({
  id: v.pipe(field.id, v.description('The header `webhook-id`, the same in each attempt.')),
  webhookId: field.id,
  companyId: field.id,
  event: v.string(),
  status: v.picklist(DELIVERY_STATUSES),
  attempts: field.integer,
  nextAttemptAt: v.nullable(field.timestamp),
  responseStatus: v.pipe(v.nullable(field.integer), v.description('The HTTP status of the last attempt.')),
  error: v.pipe(v.nullable(v.string()), v.description('Why the last attempt failed.')),
  durationMs: v.nullable(field.integer),
  payload: field.jsonObject,
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})

export const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  companyId: row.company_id,
  description: row.description,
  url: row.url,
  events: JSON.parse(row.events),
  status: row.status,
  disabledAt: row.disabled_at,
  disabledWhy: row.disabled_why,
  failingSince: row.failing_since,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const toDelivery = (row: DeliveryRow): v.InferOutput<typeof Delivery> => ({
  id: row.id,
  webhookId: row.webhook_id,
  companyId: row.company_id,
  event: row.event,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at,
  responseStatus: row.response_status,
  error: row.error,
  durationMs: row.duration_ms,
  payload: JSON.parse(row.payload),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** The place of a webhook's secret. Names of stored secrets contain no slash, so they differ. */
export const placeOfSecret = (row: { id: string; company_id: string }): Place => ({
  companyId: row.company_id,
  name: `webhook/${row.id}`,
})

/** Returns the host of a webhook's URL. The path of a URL is often a credential and is displayed only to the board. */
export const hostOfWebhook = ({ url }: Pick<WebhookRow, 'url'>): string => new URL(url).host
