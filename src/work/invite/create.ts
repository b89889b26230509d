import { randomBytes } from 'node:crypto'
import type * as v from 'valibot'
import type { Action } from '../../access/activity/actions.ts'
import { recordActivity } from '../../access/activity/record.ts'
import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { findCompany } from '../../organization/company/queries.ts'
import type { Context } from '../../platform/context.ts'
import { hashCredential } from '../../platform/credential.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import { INVITE_MS, type InviteRow, type NewInvite } from './invite.ts'
import { findInvite, insertInvite, revoke } from './queries.ts'

/**
 * Invites an outside agent. The invite is valid once, for a day.
 *
 * @param baseUrl the URL of this server as the inviter reaches it
 */
export function createInvite(
  ctx: Context,
  caller: Caller,
  companyId: string,
  agentMessage: string | null,
  baseUrl: string,
): v.InferOutput<typeof NewInvite> {
  const actor = actorOf(caller)
  const token = makeSecret('inv_')
  const invite = insertInvite(ctx.db, {
    id: uuid(),
    company_id: companyId,
    token_hash: hashCredential(token),
    message: agentMessage,
    created_by_agent_id: actor.type === 'agent' ? actor.id : null,
    created_by_user_id: actor.type === 'user' ? actor.id : null,
    created_at: ctx.now,
    expires_at: new Date(Date.parse(ctx.now) + INVITE_MS).toISOString(),
  })
  record(ctx, caller, invite, 'invite.created')
  const onboardingTextPath = `${pathOf(token)}/onboarding.txt`
  const onboardingTextUrl = `${baseUrl}${onboardingTextPath}`
  const { name } = findCompany(ctx.db, { id: companyId })!
  return {
    id: invite.id,
    companyId,
    token,
    onboardingTextUrl,
    onboardingTextPath,
    prompt: `You are invited to work for ${name}. Read ${onboardingTextUrl} and follow it.`,
    agentMessage,
    createdAt: invite.created_at,
    expiresAt: invite.expires_at,
    expiresInSec: INVITE_MS / 1_000,
  }
}

/** Revokes an invite and the claim of its key. Revoking it again is a no-op. */
export function revokeInvite(ctx: Context, caller: Caller, companyId: string, id: string): InviteRow {
  const invite = findInvite(ctx.db, { id })
  if (invite?.company_id !== companyId) throw notFound('invite', id)
  if (invite.claimed_at) {
    throw new AppError(
      'conflict',
      'The agent of this invite already has its key. Revoke the key, or terminate the agent.',
      {
        agentId: invite.agent_id,
      },
    )
  }
  const revoked = revoke(ctx.db, { id, at: ctx.now })
  if (!revoked) return invite
  record(ctx, caller, revoked, 'invite.revoked')
  return revoked
}

/** Returns the path of an invite, which contains its token. */
export const pathOf = (token: string) => `/api/invites/${token}`

/** 32 random bytes, for which an unsalted hash is enough. */
export const makeSecret = (prefix: string) => `${prefix}${randomBytes(32).toString('base64url')}`

const record = (ctx: Context, caller: Caller, invite: InviteRow, action: Action) =>
  recordActivity(ctx, caller, {
    companyId: invite.company_id,
    action,
    entity: { type: 'invite', id: invite.id },
    details: { expiresAt: invite.expires_at },
  })
