import type * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { addAgent } from '../../organization/agent/create.ts'
import { createKey } from '../../organization/agent/keys.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import type { Context } from '../../platform/context.ts'
import { hashCredential } from '../../platform/credential.ts'
import { AppError, forbidden, notFound, unprocessable } from '../../platform/errors.ts'
import { findCeo } from '../approval/queries.ts'
import { createHireApproval } from '../staffing/hire.ts'
import { makeSecret, pathOf } from './create.ts'
import { type Acceptance, type Accepted, CLAIM_MS, type Claimed, type InviteRow } from './invite.ts'
import { acceptInvite, findInviteByToken, takeClaim } from './queries.ts'

/** Finds the invite of a token. A revoked or expired invite and an unknown one have different errors. */
export function getInvite(ctx: Context, token: string): InviteRow {
  const invite = findInviteByToken(ctx.db, { hash: hashCredential(token) })
  if (!invite) throw notFound('invite', token.slice(0, 8))
  const ended = invite.revoked_at
    ? 'was revoked'
    : !invite.accepted_at && invite.expires_at <= ctx.now
      ? 'has expired'
      : null
  if (ended) throw new AppError('not_found', `This invite ${ended}. Ask its sender for a new one.`)
  return invite
}

/**
 * Accepts an invite, once: creates the agent, which waits for the board, and
 * the approval of the board. The response contains the secret with which the
 * agent claims its key after the approval.
 */
export function joinByInvite(ctx: Context, token: string, want: Acceptance): v.InferOutput<typeof Accepted> {
  const invite = getInvite(ctx, token)
  if (invite.accepted_at) throw new AppError('conflict', 'This invite was already used. Ask for a new one.')
  if (want.role === 'ceo')
    throw unprocessable('role', 'an outside agent cannot join as the CEO; the board appoints the CEO')
  const ceo = findCeo(ctx.db, { companyId: invite.company_id })
  const hire = { ...want, reportsTo: ceo?.id ?? null }
  const agent = addAgent(ctx, SYSTEM, invite.company_id, hire, { status: 'pending_approval', source: 'hire' })
  // The inviter requests the approval, because an agent is woken by the decision.
  const approval = createHireApproval(ctx, SYSTEM, agent, [], {
    requested_by_agent_id: invite.created_by_agent_id,
    requested_by_user_id: invite.created_by_user_id,
  })
  recordActivity(ctx, SYSTEM, {
    companyId: invite.company_id,
    action: 'invite.accepted',
    entity: { type: 'invite', id: invite.id },
    agentId: agent.id,
    details: { name: agent.name, role: agent.role, adapterType: agent.adapter_type, approvalId: approval.id },
  })
  const claimSecret = makeSecret('clm_')
  const claimExpiresAt = new Date(Date.parse(ctx.now) + CLAIM_MS).toISOString()
  const claim = { agentId: agent.id, claimHash: hashCredential(claimSecret), claimExpiresAt }
  acceptInvite(ctx.db, { id: invite.id, ...claim, at: ctx.now })
  return {
    inviteId: invite.id,
    companyId: invite.company_id,
    agentId: agent.id,
    status: 'pending_approval',
    approvalId: approval.id,
    claimSecret,
    claimKeyPath: `${pathOf(token)}/claim-key`,
    claimExpiresAt,
  }
}

/** Returns the key of the agent of an accepted invite, once, after the board has approved the agent. */
export function claimKey(ctx: Context, token: string, claimSecret: string): v.InferOutput<typeof Claimed> {
  const invite = getInvite(ctx, token)
  if (!invite.agent_id) throw new AppError('conflict', 'Accept the invite first.')
  const claimHash = hashCredential(claimSecret)
  if (invite.claim_hash !== claimHash) throw forbidden('This is not the claimSecret in the response of the acceptance.')
  const agent = findAgent(ctx.db, { id: invite.agent_id })!
  if (agent.status === 'pending_approval') {
    throw new AppError('agent_not_ready', 'The board has not decided yet. Retry later.', {
      status: agent.status,
    })
  }
  if (agent.status === 'terminated') {
    throw new AppError('agent_not_ready', 'The board rejected your request to join.', { status: agent.status })
  }
  if (!takeClaim(ctx.db, { id: invite.id, claimHash, at: ctx.now })) {
    const why = invite.claimed_at ? 'was already claimed' : 'can no longer be claimed'
    throw new AppError('conflict', `This key ${why}. Ask the board for a new one.`)
  }
  const self = {
    type: 'agent',
    agentId: agent.id,
    companyId: agent.company_id,
    role: agent.role,
    runId: null,
    keyExpiresAt: null,
    isWrite: true,
  } as const
  const key = createKey(ctx, self, agent, { name: 'invite', scope: 'work', expiresAt: null })
  return { agentId: agent.id, companyId: agent.company_id, keyId: key.id, token: key.token, createdAt: key.createdAt }
}
