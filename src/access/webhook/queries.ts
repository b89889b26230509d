import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { countRows, prepared, raw, sql } from '../../platform/database/sql.ts'
import type { WebhookDeliveryTable, WebhookTable } from '../../platform/database/tables.ts'
import type { DeliveryRow, WebhookRow } from './webhook.ts'

export const findWebhook = (db: Db, key: { id: string }): WebhookRow | undefined =>
  db.first(sql.selectFrom('webhook').selectAll().where('id', '=', key.id))

export const selectWebhooks = (of: { companyId: string }) =>
  sql.selectFrom('webhook').selectAll().where('company_id', '=', of.companyId)

export const countWebhooks = (db: Db, of: { companyId: string }): number => countRows(db, selectWebhooks(of))

const active = prepared(() => sql.selectFrom('webhook').selectAll().where('status', '=', raw.lit('active')))

export const listActiveWebhooks = (db: Db): WebhookRow[] => db.all(active({}))

/** Lists the webhooks of a company that the server disabled, because they failed or are gone. */
export const listFailedWebhooks = (db: Db, of: { companyId: string }) =>
  db.all(selectWebhooks(of).where('disabled_why', 'in', ['failing', 'gone']))

export const insertWebhook = (db: Db, row: Insertable<WebhookTable>): WebhookRow =>
  db.first(sql.insertInto('webhook').values(row).returningAll())!

export const updateWebhook = (db: Db, id: string, change: Updateable<WebhookTable>): WebhookRow =>
  db.first(sql.updateTable('webhook').set(change).where('id', '=', id).returningAll())!

export const deleteWebhookRow = (db: Db, id: string) => db.run(sql.deleteFrom('webhook').where('id', '=', id))

/** The position of the latest activity of a company; 0 if it has none. */
export const lastPosition = (db: Db, of: { companyId: string }): number =>
  db.first(
    sql.selectFrom('activity').select('seq').where('company_id', '=', of.companyId).orderBy('seq', 'desc').limit(1),
  )?.seq ?? 0

export const selectDeliveries = (of: { webhookId: string; status?: DeliveryRow['status'] | undefined }) => {
  const query = sql.selectFrom('webhook_delivery').selectAll().where('webhook_id', '=', of.webhookId)
  return of.status === undefined ? query : query.where('status', '=', raw.lit(of.status))
}

export const countPending = (db: Db, of: { webhookId: string }): number =>
  countRows(db, selectDeliveries({ ...of, status: 'pending' }))

export const findPendingDelivery = (db: Db, key: { id: string }): DeliveryRow | undefined =>
  db.first(sql.selectFrom('webhook_delivery').selectAll().where('id', '=', key.id).where('status', '=', 'pending'))

export const insertDelivery = (db: Db, row: Insertable<WebhookDeliveryTable>): DeliveryRow =>
  db.first(sql.insertInto('webhook_delivery').values(row).returningAll())!

export const updateDelivery = (db: Db, id: string, change: Updateable<WebhookDeliveryTable>) =>
  db.run(sql.updateTable('webhook_delivery').set(change).where('id', '=', id))

/** Lists the pending deliveries of a webhook that are due, the earliest first. */
export const listDueDeliveries = (db: Db, of: { webhookId: string; now: string; limit: number }): DeliveryRow[] =>
  db.all(
    selectDeliveries({ webhookId: of.webhookId, status: 'pending' })
      .where('next_attempt_at', '<=', of.now)
      .orderBy('next_attempt_at')
      .orderBy('id')
      .limit(of.limit),
  )

/** The time of the next attempt of a webhook; null if no delivery is pending. */
export const nextAttempt = (db: Db, of: { webhookId: string }): string | null =>
  db.first(
    sql
      .selectFrom('webhook_delivery')
      .select(({ fn }) => fn.min<string | null>('next_attempt_at').as('at'))
      .where('webhook_id', '=', of.webhookId)
      .where('status', '=', raw.lit('pending')),
  )!.at

/** Ends all pending deliveries of a webhook without another attempt. */
export const failPending = (db: Db, of: { webhookId: string; error: string; at: string }) =>
  db.run(
    sql
      .updateTable('webhook_delivery')
      .set({ status: 'failed', next_attempt_at: null, error: of.error, updated_at: of.at })
      .where('webhook_id', '=', of.webhookId)
      .where('status', '=', raw.lit('pending')),
  )

/** Deletes the ended deliveries of a webhook that are older than a time. */
export const deleteOldDeliveries = (db: Db, of: { webhookId: string; before: string }) =>
  db.run(
    sql
      .deleteFrom('webhook_delivery')
      .where('webhook_id', '=', of.webhookId)
      .where('status', '<>', 'pending')
      .where('created_at', '<', of.before),
  )
