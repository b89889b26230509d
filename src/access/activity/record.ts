import { hash } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { findCompany } from '../../organization/company/queries.ts'
import { noteChange } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { requireRole } from '../board/role.ts'
import { actorOf, type Caller } from '../caller.ts'
import { type ActivityRow, insertActivity, lastHash } from './queries.ts'

export interface ActivityEntry {
  companyId: string
  /** `<noun>.<what happened>`, such as `issue.checked_out`. */
  action: string
  entity: { type: string; id: string }
  /** The agent that this is about, where it is not the one who acted. */
  agentId?: string | null
  runId?: string | null
  details?: Record<string, unknown>
}

/**
 * Writes what was done into the company's activity, in the transaction that
 * does it, and tells those who watch once that is durable. Every change comes
 * through here, so this is also where a person's role is looked at once more, in
 * the very transaction, and where an archived company refuses changes, but for
 * what the server itself has to say (that a run in it has ended).
 *
 * @returns the row's id
 */
export function recordActivity(ctx: Context, caller: Caller, entry: ActivityEntry): string {
  requireRole(ctx, caller, entry.companyId)
  if (caller.type !== 'system' && !entry.action.startsWith('company.')) refuseArchived(ctx, entry.companyId)
  if (caller.type === 'agent' && entry.action !== 'cost.reported') noteChange(ctx.db, caller)
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
    previous_hash: lastHash(ctx.db, { companyId: entry.companyId })?.hash ?? '',
  }
  insertActivity(ctx.db, { ...row, hash: hashActivity(row) })
  ctx.afterCommit(() => ctx.events.publish({ companyId: entry.companyId, type: entry.action, data: toEvent(row) }))
  return row.id
}

/** What a row's hash covers: everything in it, and through `previous_hash` everything before it. */
export function hashActivity(row: Omit<ActivityRow, 'seq' | 'hash'>): string {
  const { previous_hash, id, company_id, actor_type, actor_id, action, entity_type, entity_id } = row
  const { agent_id, run_id, details, created_at } = row
  return hash(
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

function refuseArchived(ctx: Context, companyId: string): void {
  if (findCompany(ctx.db, { id: companyId })?.status !== 'archived') return
  throw new AppError('semantic', 'This company is archived, so nothing in it can change.')
}

const toEvent = (row: Omit<ActivityRow, 'seq' | 'hash' | 'previous_hash'>) => ({
  activityId: row.id,
  actorType: row.actor_type,
  actorId: row.actor_id,
  entityType: row.entity_type,
  entityId: row.entity_id,
  agentId: row.agent_id,
  runId: row.run_id,
  createdAt: row.created_at,
})
