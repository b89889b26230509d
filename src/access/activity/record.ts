import { hash as digest } from 'node:crypto'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { actorOf, type Caller } from '../caller/caller.ts'
import type { Action, EntityType } from './actions.ts'
import type { ActivityEvent } from './live-events.ts'
import { type ActivityRow, insertActivity, lastHash } from './queries.ts'
import { actorName, summaryOf } from './summary.ts'

export interface ActivityEntry {
  companyId: string
  action: Action
  entity: { type: EntityType; id: string }
  /** The agent concerned, if it is not the actor. */
  agentId?: string | null
  runId?: string | null
  details?: Record<string, unknown>
}

/**
 * Records a change in the company's activity, in the transaction of the change,
 * and publishes it as a live event after the commit.
 *
 * @returns the id of the row
 */
export function recordActivity(ctx: Context, caller: Caller, entry: ActivityEntry): string {
  const actor = actorOf(caller)
  const row = {
    id: uuid(),
    company_id: entry.companyId,
    actor_type: actor.type,
    actor_id: actor.id,
    action: entry.action,
    entity_type: entry.entity.type,
    entity_id: entry.entity.id,
    agent_id: entry.agentId ?? (caller.type === 'agent' ? caller.agentId : null),
    run_id: entry.runId ?? (caller.type === 'agent' ? caller.runId : null),
    details: entry.details ? JSON.stringify(entry.details) : null,
    created_at: ctx.now,
    previous_hash: previousHash(ctx, entry.companyId),
  }
  const hash = hashActivity(row)
  insertActivity(ctx.db, { ...row, hash })
  ctx.lastWritten.set(chainKey(entry.companyId), hash)
  ctx.afterCommit(() => ctx.events.publish(entry.companyId, entry.action, () => toEvent(ctx, row)))
  return row.id
}

const chainKey = (companyId: string) => `activity ${companyId}`

/** Returns the hash of the company's last activity, which the next one continues. */
const previousHash = (ctx: Context, companyId: string): string =>
  ctx.lastWritten.get(chainKey(companyId)) ?? lastHash(ctx.db, { companyId })?.hash ?? ''

/** Returns the hash of a row: it covers the whole row and, through `previous_hash`, all rows before it. */
export function hashActivity(row: Omit<ActivityRow, 'seq' | 'hash'>): string {
  const { previous_hash, id, company_id, actor_type, actor_id, action, entity_type, entity_id } = row
  const { agent_id, run_id, details, created_at } = row
  return digest(
    'sha256',
    JSON.stringify([
      previous_hash,
      id,
      company_id,
      actor_type,
      actor_id,
      action,
      entity_type,
      entity_id,
      agent_id,
      run_id,
      details,
      created_at,
    ]),
    'base64url',
  )
}

/**
 * Converts an activity to its live event, which includes a summary of the
 * entity, so that a listener need not fetch it.
 */
export const toEvent = (
  { db }: Pick<Context, 'db'>,
  row: Omit<ActivityRow, 'seq' | 'hash' | 'previous_hash'>,
): ActivityEvent => ({
  activityId: row.id,
  actorType: row.actor_type,
  actorId: row.actor_id,
  actorName: actorName(db, { type: row.actor_type, id: row.actor_id }),
  entityType: row.entity_type,
  entityId: row.entity_id,
  entity: summaryOf(db, { type: row.entity_type, id: row.entity_id }),
  agentId: row.agent_id,
  runId: row.run_id,
  createdAt: row.created_at,
})
