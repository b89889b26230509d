import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import type { Action } from '../activity/actions.ts'
import { recordActivity } from '../activity/record.ts'
import type { BoardCaller, Caller } from '../caller/caller.ts'
import { ROLES, type Role } from '../caller/role.ts'
import { requireRole } from './fresh-role.ts'
import {
  countOwners,
  deleteMembership,
  findMember,
  findMembership,
  insertMembership,
  updateMembership,
} from './membership-queries.ts'

export const Member = v.strictObject({
  userId: v.string(),
  name: v.string(),
  email: v.string(),
  role: v.picklist(ROLES),
  createdAt: field.timestamp,
})
export type Member = v.InferOutput<typeof Member>

type MemberRow = NonNullable<ReturnType<typeof findMember>>

export const toMember = (row: MemberRow): Member => ({
  userId: row.user_id,
  name: row.name,
  email: row.email,
  role: row.role,
  createdAt: row.created_at,
})

/** Makes a person a member. An existing member gets the higher of the two roles. */
export function addMember(ctx: Context, caller: BoardCaller, companyId: string, role: Role): void {
  const { userId } = caller
  const before = findMembership(ctx.db, { companyId, userId })?.role
  if (before && ROLES.indexOf(before) >= ROLES.indexOf(role)) return
  if (before) updateMembership(ctx.db, { companyId, userId, role })
  else insertMembership(ctx.db, { company_id: companyId, user_id: userId, role, created_at: ctx.now })
  record(ctx, caller, 'company.member_joined', companyId, userId, { role })
}

/** Changes the role of a member. The role of the last owner cannot change. */
export function changeRole(ctx: Context, caller: Caller, companyId: string, userId: string, role: Role): Member {
  const member = getMember(ctx, companyId, userId)
  if (member.role === role) return toMember(member)
  if (member.role === 'owner') refuseLastOwner(ctx, companyId)
  record(ctx, caller, 'company.member_role_changed', companyId, userId, { from: member.role, to: role })
  updateMembership(ctx.db, { companyId, userId, role })
  return toMember({ ...member, role })
}

/** Removes a member. Owners may remove anyone, and everyone may leave, except the last owner. */
export function removeMember(ctx: Context, caller: BoardCaller, companyId: string, userId: string): Member {
  const leaves = caller.userId === userId
  if (!leaves) requireRole(ctx, caller, companyId, 'owner')
  const member = getMember(ctx, companyId, userId)
  if (member.role === 'owner') refuseLastOwner(ctx, companyId)
  record(ctx, caller, leaves ? 'company.member_left' : 'company.member_removed', companyId, userId, {
    role: member.role,
  })
  deleteMembership(ctx.db, { companyId, userId })
  return toMember(member)
}

function getMember(ctx: Context, companyId: string, userId: string): MemberRow {
  const member = findMember(ctx.db, { companyId, userId })
  if (!member) throw notFound('member', userId)
  return member
}

function refuseLastOwner(ctx: Context, companyId: string): void {
  if (countOwners(ctx.db, { companyId }) > 1) return
  throw new AppError('semantic', 'This is the last owner of the company. Give another member the role owner first.')
}

const record = (
  ctx: Context,
  caller: Caller,
  action: Action,
  companyId: string,
  userId: string,
  details: Record<string, unknown>,
) => recordActivity(ctx, caller, { companyId, action, entity: { type: 'user', id: userId }, details })
