import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { hashCredential } from '../../platform/credential.ts'
import type { InvitationTable } from '../../platform/database/tables.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { Action } from '../activity/actions.ts'
import { recordActivity } from '../activity/record.ts'
import type { BoardCaller, Caller } from '../caller/caller.ts'
import { ROLES, type Role } from '../caller/role.ts'
import { boardCaller } from './board-caller.ts'
import { requireRole } from './fresh-role.ts'
import { findInvitation, findInvitationByHash, insertInvitation, updateInvitation } from './invitation-queries.ts'
import { addMember } from './member.ts'

export type InvitationRow = Selectable<InvitationTable>

/** An invitation as lists return it, without its link. */
export const Invitation = v.strictObject({
  id: field.id,
  companyId: field.id,
  role: v.picklist(ROLES),
  status: v.picklist(['open', 'accepted', 'revoked', 'expired']),
  invitedByUserId: v.string(),
  acceptedByUserId: v.nullable(v.string()),
  createdAt: field.timestamp,
  expiresAt: field.timestamp,
})

/** An invitation as the response to its creation returns it. No other response contains the link. */
export const InvitationWithLink = v.strictObject({ ...Invitation.entries, url: v.string() })

const DAY_MS = 24 * 60 * 60 * 1_000

export const NewInvitation = v.strictObject({
  role: v.optional(v.picklist(ROLES), 'member'),
  expiresInDays: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30)), 7),
})
export type NewInvitation = v.InferOutput<typeof NewInvitation>

export const toInvitation = (row: InvitationRow, now: string): v.InferOutput<typeof Invitation> => ({
  id: row.id,
  companyId: row.company_id,
  role: row.role,
  status: statusOf(row, now),
  invitedByUserId: row.invited_by_user_id,
  acceptedByUserId: row.accepted_by_user_id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})

function statusOf(row: InvitationRow, now: string) {
  if (row.accepted_at) return 'accepted'
  if (row.revoked_at) return 'revoked'
  return row.expires_at <= now ? 'expired' : 'open'
}

/** Invites one person. The invited role cannot exceed the role of the caller. */
export function invite(ctx: Context, caller: BoardCaller, companyId: string, want: NewInvitation) {
  requireRole(ctx, caller, companyId, want.role === 'owner' ? 'owner' : 'admin')
  const token = randomBytes(32).toString('base64url')
  const row: InvitationRow = {
    id: uuid(),
    company_id: companyId,
    role: want.role,
    hash: hashCredential(token),
    invited_by_user_id: caller.userId,
    created_at: ctx.now,
    expires_at: new Date(Date.parse(ctx.now) + want.expiresInDays * DAY_MS).toISOString(),
    accepted_at: null,
    accepted_by_user_id: null,
    revoked_at: null,
  }
  insertInvitation(ctx.db, row)
  record(ctx, caller, 'company.invited', row)
  return { row, token }
}

/** Revokes an invitation. Revoking one that was accepted or revoked is a no-op. */
export function revokeInvitation(ctx: Context, caller: Caller, companyId: string, id: string): InvitationRow {
  const row = findInvitation(ctx.db, { companyId, id })
  if (!row) throw notFound('invitation', id)
  if (row.accepted_at || row.revoked_at) return row
  record(ctx, caller, 'company.invitation_revoked', row)
  return updateInvitation(ctx.db, id, { revoked_at: ctx.now })
}

/** Returns the invitation of a link if it can still be accepted. */
export function openInvitation(ctx: Context, token: string): InvitationRow {
  const row = findInvitationByHash(ctx.db, { hash: hashCredential(token) })
  if (!row || statusOf(row, ctx.now) !== 'open') {
    throw new AppError('not_found', 'This invitation was already used, was revoked, or has expired. Ask for a new one.')
  }
  return row
}

/** Makes a person a member with the link of an invitation, and marks the link as used. */
export function acceptInvitation(ctx: Context, userId: string, token: string): void {
  const row = openInvitation(ctx, token)
  updateInvitation(ctx.db, row.id, { accepted_at: ctx.now, accepted_by_user_id: userId })
  addMember(ctx, boardCaller(ctx, userId, 'session'), row.company_id, row.role)
}

const record = (ctx: Context, caller: Caller, action: Action, row: { id: string; company_id: string; role: Role }) =>
  recordActivity(ctx, caller, {
    companyId: row.company_id,
    action,
    entity: { type: 'invitation', id: row.id },
    details: { role: row.role },
  })
