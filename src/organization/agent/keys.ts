import type { Selectable } from 'kysely'
import * as v from 'valibot'
import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import { type Caller, KEY_SCOPES, type KeyScope } from '../../access/caller/caller.ts'
import { assertFuture } from '../../access/caller/credential-expiry.ts'
import { AGENT_KEY_PREFIX } from '../../access/caller/credential-prefix.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { createCredential, hashCredential } from '../../platform/credential.ts'
import type { AgentKeyTable } from '../../platform/database/tables.ts'
import { AppError, forbidden, notFound } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { AgentRow } from './agent.ts'
import { findKey, insertKey, revokeKey as revoke } from './key-queries.ts'

export type KeyRow = Selectable<AgentKeyTable>

/** A key as lists return it, with its first characters. */
export const Key = v.strictObject({
  id: field.id,
  name: v.string(),
  prefix: v.string(),
  scope: v.pipe(v.picklist(KEY_SCOPES), v.description('`read`: only GET. `work`: all permissions of the agent.')),
  createdAt: field.timestamp,
  expiresAt: v.pipe(v.nullable(field.timestamp), v.description('Null if the key does not expire.')),
  lastUsedAt: v.nullable(field.timestamp),
  revokedAt: v.nullable(field.timestamp),
})

/** A new key. Only the response to its creation contains the key itself. */
export const NewKey = v.strictObject({
  id: field.id,
  name: v.string(),
  token: v.string(),
  scope: v.picklist(KEY_SCOPES),
  createdAt: field.timestamp,
  expiresAt: v.nullable(field.timestamp),
})

export const toKey = (row: KeyRow): v.InferOutput<typeof Key> => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scope: row.scope,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
})

/**
 * Creates a long-lived key for an agent. The board may, and the agent itself
 * with a long-lived key. A run token may not, because the key would outlive the
 * run, and a key that expires creates no key that is valid longer.
 */
export function createKey(
  ctx: Context,
  caller: Caller,
  agent: AgentRow,
  { name, scope, expiresAt }: { name: string; scope: KeyScope; expiresAt: string | null },
): v.InferOutput<typeof NewKey> {
  assertMayManageKeys(caller, agent)
  assertFuture(ctx, expiresAt)
  if (caller.type === 'agent' && caller.runId !== null) {
    throw forbidden('The token of a run cannot create keys. Use a key of the agent, or ask the board for one.')
  }
  if (caller.type === 'agent') assertNotLonger(expiresAt, caller.keyExpiresAt)
  if (agent.status === 'pending_approval' || agent.status === 'terminated') {
    const why = agent.status === 'terminated' ? 'is terminated' : 'waits for its approval'
    throw new AppError('agent_not_ready', `${agent.name} ${why}, so it cannot have a key.`, { status: agent.status })
  }
  const token = createCredential(AGENT_KEY_PREFIX)
  const id = uuid()
  insertKey(ctx.db, {
    id,
    company_id: agent.company_id,
    agent_id: agent.id,
    name,
    prefix: token.slice(0, SHOWN_CHARACTERS),
    hash: hashCredential(token),
    created_at: ctx.now,
    expires_at: expiresAt,
    scope,
  })
  record(ctx, caller, agent, 'agent.key_created', { keyId: id, name, scope, expiresAt })
  return { id, name, token, scope, createdAt: ctx.now, expiresAt }
}

/** Refuses a key that would be valid longer than the key of the request. */
function assertNotLonger(expiresAt: string | null, limit: string | null): void {
  if (limit === null || (expiresAt !== null && Date.parse(expiresAt) <= Date.parse(limit))) return
  throw forbidden(`Your key expires at ${limit}. Create a key that expires no later (expiresAt).`, { expiresAt: limit })
}

/** Revokes a key permanently. Revoking it again is a no-op. */
export function revokeKey(ctx: Context, caller: Caller, agent: AgentRow, keyId: string): KeyRow {
  assertMayManageKeys(caller, agent)
  const revoked = revoke(ctx.db, { id: keyId, agentId: agent.id, at: ctx.now })
  if (revoked) {
    record(ctx, caller, agent, 'agent.key_revoked', { keyId, name: revoked.name })
    return revoked
  }
  const known = findKey(ctx.db, { id: keyId, agentId: agent.id })
  if (!known) throw notFound('key', keyId)
  return known
}

/** Refuses every agent except the owner of the keys. */
export function assertMayManageKeys(caller: Caller, agent: AgentRow): void {
  if (caller.type === 'agent' && caller.agentId !== agent.id) {
    throw forbidden(`Only the board and ${agent.name} itself may see and change its keys.`)
  }
}

const SHOWN_CHARACTERS = AGENT_KEY_PREFIX.length + 6

function record(ctx: Context, caller: Caller, agent: AgentRow, action: Action, details: Record<string, unknown>) {
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action,
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details,
  })
}
