import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { role } from '../../organization/agent/agent.ts'
import type { InviteTable } from '../../platform/database/tables.ts'

export type InviteRow = Selectable<InviteTable>

/** The time in which an invite can be accepted, in milliseconds: a day. */
export const INVITE_MS = 24 * 60 * 60 * 1_000

/** The time in which the key can be claimed afterwards, in milliseconds: the board has 30 days to decide. */
export const CLAIM_MS = 30 * 24 * 60 * 60 * 1_000

const INVITE_STATUSES = ['open', 'expired', 'accepted', 'claimed', 'revoked'] as const
type InviteStatus = (typeof INVITE_STATUSES)[number]

/** An invite as lists return it. */
export const Invite = v.strictObject({
  id: field.id,
  companyId: field.id,
  status: v.pipe(
    v.picklist(INVITE_STATUSES),
    v.description(
      'accepted: the agent is pending approval or has not claimed its key; claimed: the agent has its key.',
    ),
  ),
  agentMessage: v.nullable(v.string()),
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  agentId: v.pipe(v.nullable(field.id), v.description('The agent that accepted the invite.')),
  createdAt: field.timestamp,
  expiresAt: field.timestamp,
  acceptedAt: v.nullable(field.timestamp),
  claimedAt: v.nullable(field.timestamp),
  revokedAt: v.nullable(field.timestamp),
})

/** An invite as the response to its creation returns it. No other response contains the token. */
export const NewInvite = v.strictObject({
  id: field.id,
  companyId: field.id,
  token: v.string(),
  onboardingTextUrl: v.pipe(
    v.string(),
    v.description('The URL of the onboarding text for the outside agent. It contains the token.'),
  ),
  onboardingTextPath: v.string(),
  prompt: v.pipe(v.string(), v.description('The prompt for the outside agent.')),
  agentMessage: v.nullable(v.string()),
  createdAt: field.timestamp,
  expiresAt: field.timestamp,
  expiresInSec: field.integer,
})

export const InvitePrompt = v.strictObject({
  agentMessage: v.optional(
    v.pipe(
      v.nullable(field.text),
      v.description('A message to the outside agent, which the onboarding text contains.'),
    ),
  ),
})

/** The data that an outside agent sends about itself. The board sets its permissions. */
export const Acceptance = v.strictObject({
  name: field.name,
  role: v.optional(role, 'engineer'),
  title: v.optional(v.nullable(field.name)),
  capabilities: v.optional(v.nullable(field.text)),
  adapterType: v.optional(
    v.pipe(
      v.picklist(['none', 'http'], 'must be none or http'),
      v.description('none: the agent reads its inbox itself; http: the server POSTs each wake to adapterConfig.url.'),
    ),
    'none',
  ),
  adapterConfig: v.optional(field.sentObject, {}),
})
export type Acceptance = v.InferOutput<typeof Acceptance>

/** The response to an acceptance. No other response contains the claim secret. */
export const Accepted = v.strictObject({
  inviteId: field.id,
  companyId: field.id,
  agentId: field.id,
  status: v.literal('pending_approval'),
  approvalId: field.id,
  claimSecret: v.string(),
  claimKeyPath: v.string(),
  claimExpiresAt: field.timestamp,
})

export const Claim = v.strictObject({ claimSecret: field.reference })

export const Claimed = v.strictObject({
  agentId: field.id,
  companyId: field.id,
  keyId: field.id,
  token: v.pipe(v.string(), v.description("The agent's key. Only this response contains it.")),
  createdAt: field.timestamp,
})

/** @param now decides whether the invite has expired */
export const toInvite = (row: InviteRow, now: string): v.InferOutput<typeof Invite> => ({
  id: row.id,
  companyId: row.company_id,
  status: statusOf(row, now),
  agentMessage: row.message,
  createdByAgentId: row.created_by_agent_id,
  createdByUserId: row.created_by_user_id,
  agentId: row.agent_id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  acceptedAt: row.accepted_at,
  claimedAt: row.claimed_at,
  revokedAt: row.revoked_at,
})

function statusOf(row: InviteRow, now: string): InviteStatus {
  if (row.claimed_at) return 'claimed'
  if (row.revoked_at) return 'revoked'
  if (row.accepted_at) return 'accepted'
  return row.expires_at > now ? 'open' : 'expired'
}
