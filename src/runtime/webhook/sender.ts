import { listActivityAfter } from '../../access/activity/queries.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { disableWebhook } from '../../access/webhook/change.ts'
import { wants } from '../../access/webhook/event-patterns.ts'
import { payloadOf } from '../../access/webhook/payload.ts'
import {
  countPending,
  deleteOldDeliveries,
  findPendingDelivery,
  findWebhook,
  insertDelivery,
  listActiveWebhooks,
  listDueDeliveries,
  nextAttempt,
  updateDelivery,
  updateWebhook,
} from '../../access/webhook/queries.ts'
import { type DeliveryRow, placeOfSecret, type WebhookRow } from '../../access/webhook/webhook.ts'
import type { Context } from '../../platform/context.ts'
import { type Lookup, lookupHost } from '../../platform/source/address.ts'
import { uuid } from '../../platform/uuid.ts'
import { type AttemptResult, sendAttempt } from './send.ts'

/** The wait before each retry, in milliseconds. A delivery whose last retry fails has the status `failed`. */
export const BACKOFF_MS = [5_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000, 6 * 3_600_000, 12 * 3_600_000]

/** The time after which a webhook without a successful delivery is disabled, in milliseconds. */
export const FAILING_MS = 3 * 86_400_000

/** The time after which ended deliveries are deleted, in milliseconds. */
const RETENTION_MS = 30 * 86_400_000
/** The maximum number of activities that become deliveries in one write. */
const BATCH = 100
/** The maximum number of pending deliveries of a webhook. Later events are read from the activity when there is room. */
const MAX_PENDING = 1_000
/** The maximum number of concurrent attempts of one webhook, and of all webhooks. */
const MAX_CONCURRENT = 4
const MAX_CONCURRENT_OF_ALL = 16
/** The time for which the events of a burst are collected, in milliseconds. */
const COLLECT_MS = 50
const LONGEST_WAIT_MS = 60_000

/** The job that sends the events of companies to their webhooks. */
export interface WebhookSender {
  start(): void
  /** Turns new activity into deliveries, and sends those that are due. Resolves when these attempts have ended. */
  pass(): Promise<void>
  /** Aborts the current attempts. The next start repeats them. */
  close(): Promise<void>
}

/**
 * Creates the sender, which sends each activity at least once. One transaction
 * inserts the deliveries and moves the cursor of the webhook, so a crash loses
 * none.
 */
export function createWebhookSender(ctx: Context, { lookup = lookupHost }: { lookup?: Lookup } = {}): WebhookSender {
  const stopping = new AbortController()
  const { signal } = stopping
  /** The current attempts by delivery id. */
  const inFlight = new Map<string, { webhookId: string; ended: Promise<void> }>()
  /** When the latest attempt of each webhook began. */
  const begunAt = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<number> | undefined
  let isAgain = false
  let removeHandlers = () => {}

  /** Turns new activity into deliveries, and begins the attempts that are due. */
  async function step(): Promise<void> {
    const webhooks = listActiveWebhooks(ctx.db)
    for (const webhook of webhooks) while (!signal.aborted && (await stage(ctx, webhook))) {}
    // The one that waited longest is first: slow receivers of one company must not keep the attempts of another waiting.
    const lastTurn = ({ id }: WebhookRow) => begunAt.get(id) ?? 0
    for (const webhook of webhooks.toSorted((a, b) => lastTurn(a) - lastTurn(b))) {
      if (!signal.aborted) beginAttempts(webhook)
    }
  }

  function beginAttempts({ id: webhookId }: WebhookRow): void {
    const own = [...inFlight.values()].filter((attempt) => attempt.webhookId === webhookId).length
    const room = Math.min(MAX_CONCURRENT - own, MAX_CONCURRENT_OF_ALL - inFlight.size)
    // The deliveries of current attempts are still due in the database.
    const due = listDueDeliveries(ctx.db, { webhookId, now: ctx.now, limit: MAX_CONCURRENT + own })
    for (const delivery of due.filter(({ id }) => !inFlight.has(id)).slice(0, Math.max(0, room))) {
      const ended = attempt(delivery)
        .catch(logFailure)
        .finally(() => {
          inFlight.delete(delivery.id)
          wake(0)
        })
      inFlight.set(delivery.id, { webhookId, ended })
      begunAt.set(webhookId, performance.now())
    }
  }

  async function attempt(delivery: DeliveryRow): Promise<void> {
    const webhook = findWebhook(ctx.db, { id: delivery.webhook_id })
    if (!webhook) return
    const begun = performance.now()
    const secret = ctx.vault.open(placeOfSecret(webhook), webhook.secret)
    const result: AttemptResult =
      secret === undefined
        ? { ok: false, status: null, error: 'Not sent: the key of this server cannot open the secret. Rotate it.' }
        : await sendAttempt(
            { id: delivery.id, url: webhook.url, secret, at: ctx.now, body: delivery.payload },
            { lookup, privateHosts: ctx.config.webhookHosts, version: ctx.config.version, signal },
          )
    if (signal.aborted) return
    await ctx.write(() => recordAttempt(ctx, delivery.id, result, Math.round(performance.now() - begun)))
  }

  const logFailure = (error: unknown) => {
    if (signal.aborted) return
    ctx.log.error('Webhooks could not be sent.', { error: String((error as Error)?.stack ?? error) })
  }

  let isStarted = false
  function wake(ms: number): void {
    if (signal.aborted || !isStarted) return
    if (running) isAgain = true
    else {
      clearTimeout(timer)
      timer = setTimeout(turn, ms).unref()
    }
  }

  async function turn(): Promise<void> {
    isAgain = false
    running = step()
      .then(waitingTime)
      .catch((error) => {
        logFailure(error)
        return LONGEST_WAIT_MS
      })
    const waitMs = await running
    running = undefined
    wake(isAgain ? COLLECT_MS : waitMs)
  }

  /** Returns the time until the next attempt, in milliseconds. The end of an attempt, or an event, wakes the job earlier. */
  function waitingTime(): number {
    if (signal.aborted || inFlight.size > 0) return LONGEST_WAIT_MS
    const times = listActiveWebhooks(ctx.db).map(({ id }) => nextAttempt(ctx.db, { webhookId: id }))
    const inMs = times.filter((at) => at !== null).map((at) => Date.parse(at) - Date.parse(ctx.now))
    return Math.min(Math.max(COLLECT_MS, Math.min(...inMs)), LONGEST_WAIT_MS)
  }

  const isDue = (webhookId: string) => (nextAttempt(ctx.db, { webhookId }) ?? '~') <= ctx.now

  return {
    start() {
      isStarted = true
      let isWoken = false
      // One timer for all events of a burst: a later event must not delay it.
      const onEvent = () => {
        if (isWoken) return
        isWoken = true
        setTimeout(() => {
          isWoken = false
          wake(0)
        }, COLLECT_MS).unref()
      }
      const unsubscribe = ctx.events.subscribe(onEvent)
      const removeHandler = ctx.signals.handle({ deliveryQueued: onEvent })
      removeHandlers = () => {
        unsubscribe()
        removeHandler()
      }
      wake(COLLECT_MS)
    },
    async pass() {
      do {
        await step()
        await Promise.all([...inFlight.values()].map(({ ended }) => ended))
      } while (!signal.aborted && listActiveWebhooks(ctx.db).some(({ id }) => isDue(id)))
    },
    async close() {
      stopping.abort()
      removeHandlers()
      clearTimeout(timer)
      await running
      await Promise.all([...inFlight.values()].map(({ ended }) => ended))
    },
  }
}

/** Turns the next activity of a company into deliveries. @returns whether there may be more */
async function stage(ctx: Context, { id, company_id: companyId }: WebhookRow): Promise<boolean> {
  const webhook = findWebhook(ctx.db, { id })
  if (webhook?.status !== 'active') return false
  const room = Math.min(BATCH, MAX_PENDING - countPending(ctx.db, { webhookId: id }))
  const rows = room <= 0 ? [] : listActivityAfter(ctx.db, { companyId, after: webhook.cursor, limit: room })
  const last = rows.at(-1)
  if (!last) return false
  const patterns = JSON.parse(webhook.events) as string[]
  await ctx.write(() => {
    // Another change of the webhook may have moved the cursor meanwhile.
    const current = findWebhook(ctx.db, { id })
    if (current?.status !== 'active' || current.cursor !== webhook.cursor) return
    for (const row of rows.filter(({ action }) => wants(patterns, action))) {
      insertDelivery(ctx.db, {
        id: uuid(),
        webhook_id: id,
        company_id: companyId,
        event: row.action,
        payload: payloadOf(ctx, row),
        next_attempt_at: ctx.now,
        created_at: ctx.now,
        updated_at: ctx.now,
      })
    }
    updateWebhook(ctx.db, id, { cursor: last.seq })
    deleteOldDeliveries(ctx.db, { webhookId: id, before: new Date(Date.parse(ctx.now) - RETENTION_MS).toISOString() })
  })
  return rows.length === room
}

/** Records the result of an attempt. The delivery is then delivered, pending for a retry, or failed. */
function recordAttempt(
  ctx: Context,
  deliveryId: string,
  { ok, status, error }: AttemptResult,
  durationMs: number,
): void {
  const delivery = findPendingDelivery(ctx.db, { id: deliveryId })
  const webhook = delivery && findWebhook(ctx.db, { id: delivery.webhook_id })
  if (!delivery || !webhook) return
  const attempts = delivery.attempts + 1
  const wait = ok ? undefined : BACKOFF_MS[attempts - 1]
  updateDelivery(ctx.db, deliveryId, {
    status: ok ? 'delivered' : wait === undefined ? 'failed' : 'pending',
    attempts,
    next_attempt_at: wait === undefined ? null : new Date(Date.parse(ctx.now) + jitter(wait)).toISOString(),
    response_status: status,
    error,
    duration_ms: durationMs,
    updated_at: ctx.now,
  })
  if (ok) {
    if (webhook.failing_since !== null) updateWebhook(ctx.db, webhook.id, { failing_since: null })
    return
  }
  const since = webhook.failing_since ?? ctx.now
  if (webhook.failing_since === null) updateWebhook(ctx.db, webhook.id, { failing_since: since })
  if (status === 410) disableWebhook(ctx, SYSTEM, webhook, 'gone')
  else if (Date.parse(ctx.now) - Date.parse(since) > FAILING_MS) disableWebhook(ctx, SYSTEM, webhook, 'failing')
}

/** Adds up to a tenth at random, so that the retries of many deliveries do not arrive together. */
const jitter = (ms: number) => Math.round(ms * (1 + Math.random() / 10))
