import { randomBytes } from 'node:crypto'
import type { Context } from '../../platform/context.ts'
import { AppError, unprocessable } from '../../platform/errors.ts'
import { hostOf, isPublicAddress } from '../../platform/source/address.ts'
import { uuid } from '../../platform/uuid.ts'
import type { Action } from '../activity/actions.ts'
import { recordActivity } from '../activity/record.ts'
import { type Caller, SYSTEM } from '../caller/caller.ts'
import { requireVisible } from '../caller/visibility.ts'
import {
  countWebhooks,
  deleteWebhookRow,
  failPending,
  findWebhook,
  insertDelivery,
  insertWebhook,
  lastPosition,
  updateWebhook,
} from './queries.ts'
import {
  type DeliveryRow,
  hostOfWebhook,
  MAX_WEBHOOKS,
  type NewWebhook,
  placeOfSecret,
  TEST_EVENT,
  type WebhookPatch,
  type WebhookRow,
} from './webhook.ts'

export function getWebhook(ctx: Context, caller: Caller, id: string): WebhookRow {
  return requireVisible(ctx, caller, findWebhook(ctx.db, { id }), 'webhook', id)
}

/** Creates a webhook for the events from now on. */
export function createWebhook(
  ctx: Context,
  caller: Caller,
  companyId: string,
  { url, events, description = null }: NewWebhook,
): { row: WebhookRow; secret: string } {
  assertAllowedUrl(ctx, url)
  if (countWebhooks(ctx.db, { companyId }) >= MAX_WEBHOOKS) {
    throw new AppError('conflict', `A company has at most ${MAX_WEBHOOKS} webhooks. Delete one first.`)
  }
  const id = uuid()
  const secret = newSecret()
  const row = insertWebhook(ctx.db, {
    id,
    company_id: companyId,
    description,
    url,
    events: JSON.stringify(events),
    secret: ctx.vault.seal(placeOfSecret({ id, company_id: companyId }), secret),
    cursor: lastPosition(ctx.db, { companyId }),
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  record(ctx, caller, 'webhook.created', row)
  return { row, secret }
}

/** Changes a webhook. One that is active again receives the events from then on. */
export function updateWebhookBy(ctx: Context, caller: Caller, webhook: WebhookRow, patch: WebhookPatch): WebhookRow {
  if (patch.url !== undefined) assertAllowedUrl(ctx, patch.url)
  const isEnabled = patch.status === 'active' && webhook.status === 'disabled'
  const isDisabled = patch.status === 'disabled' && webhook.status === 'active'
  const row = updateWebhook(ctx.db, webhook.id, {
    ...(patch.url !== undefined && { url: patch.url }),
    ...(patch.events && { events: JSON.stringify(patch.events) }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(isEnabled && {
      status: 'active',
      disabled_at: null,
      disabled_why: null,
      failing_since: null,
      cursor: lastPosition(ctx.db, { companyId: webhook.company_id }),
    }),
    updated_at: ctx.now,
  })
  record(ctx, caller, 'webhook.updated', row, { fields: Object.keys(patch) })
  if (isEnabled) ctx.afterCommit(() => ctx.signals.deliveryQueued())
  return isDisabled ? disableWebhook(ctx, caller, row, 'board') : row
}

/** Gives a webhook another secret, which signs every attempt from then on. */
export function rotateWebhookSecret(
  ctx: Context,
  caller: Caller,
  webhook: WebhookRow,
): { row: WebhookRow; secret: string } {
  const secret = newSecret()
  const row = updateWebhook(ctx.db, webhook.id, {
    secret: ctx.vault.seal(placeOfSecret(webhook), secret),
    updated_at: ctx.now,
  })
  record(ctx, caller, 'webhook.secret_rotated', row)
  return { row, secret }
}

export function deleteWebhook(ctx: Context, caller: Caller, webhook: WebhookRow): WebhookRow {
  deleteWebhookRow(ctx.db, webhook.id)
  record(ctx, caller, 'webhook.deleted', webhook)
  return webhook
}

/** Queues a test delivery, which reports no activity. */
export function testWebhook(ctx: Context, caller: Caller, webhook: WebhookRow): DeliveryRow {
  if (webhook.status === 'disabled') {
    throw new AppError('conflict', 'The webhook is disabled. Set its status to active first.')
  }
  const delivery = insertDelivery(ctx.db, {
    id: uuid(),
    webhook_id: webhook.id,
    company_id: webhook.company_id,
    event: TEST_EVENT,
    payload: JSON.stringify({
      type: TEST_EVENT,
      timestamp: ctx.now,
      data: { webhookId: webhook.id, companyId: webhook.company_id },
      text: `${TEST_EVENT}: This webhook works.`,
    }),
    next_attempt_at: ctx.now,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  record(ctx, caller, 'webhook.tested', webhook)
  ctx.afterCommit(() => ctx.signals.deliveryQueued())
  return delivery
}

/** Disables a webhook and ends its pending deliveries. The activity is the notice to the board. */
export function disableWebhook(
  ctx: Context,
  caller: Caller,
  webhook: WebhookRow,
  why: NonNullable<WebhookRow['disabled_why']>,
): WebhookRow {
  const row = updateWebhook(ctx.db, webhook.id, {
    status: 'disabled',
    disabled_at: ctx.now,
    disabled_why: why,
    updated_at: ctx.now,
  })
  failPending(ctx.db, { webhookId: webhook.id, error: 'The webhook was disabled.', at: ctx.now })
  record(ctx, caller, 'webhook.disabled', row, { why })
  if (caller === SYSTEM) {
    ctx.afterCommit(() => ctx.log.warn('A webhook was disabled.', { webhookId: row.id, host: hostOfWebhook(row), why }))
  }
  return row
}

/** As the Standard Webhooks specification has it: 24 random bytes. */
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`

/**
 * Requires https and a host outside of private networks, unless `webhookHosts`
 * names the host. Names are resolved, and checked again, before each attempt.
 *
 * @throws AppError 422
 */
function assertAllowedUrl(ctx: Context, text: string): void {
  const url = new URL(text)
  if (ctx.config.webhookHosts.includes(url.host)) return
  if (url.protocol !== 'https:') {
    throw unprocessable('url', `must be an https URL. To allow ${url.host}, add it to webhookHosts in config.json`)
  }
  const host = hostOf(url)
  const isAddress = /^[\d.]+$|:/.test(host)
  if (host === 'localhost' || host.endsWith('.localhost') || (isAddress && !isPublicAddress(host))) {
    throw unprocessable('url', `${url.host} is private. To allow it, add it to webhookHosts in config.json`)
  }
}

/** The activity contains the host only: the path of a URL is often a credential. */
const record = (
  ctx: Context,
  caller: Caller,
  action: Action & `webhook.${string}`,
  webhook: WebhookRow,
  details: Record<string, unknown> = {},
) =>
  recordActivity(ctx, caller, {
    companyId: webhook.company_id,
    action,
    entity: { type: 'webhook', id: webhook.id },
    details: { host: hostOfWebhook(webhook), ...details },
  })
