import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import type { BoardCaller, Caller } from '../caller.ts'
import { findMembership } from './membership-queries.ts'

/** What a person may be in a company, the least first: each may do what those before it may. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

export const reaches = (role: Role, least: Role) => ROLES.indexOf(role) >= ROLES.indexOf(least)

/** What a member can do besides reading: work on what there is to do. */
const FOR_MEMBERS = new Set([
  'agents.invoke',
  'agents.wakeup',
  'approvals.comment',
  'attachments.delete',
  'comments.create',
  'documents.delete',
  'documents.write',
  'goals.create',
  'goals.delete',
  'goals.update',
  'heartbeatRuns.cancel',
  'issues.attach',
  'issues.checkout',
  'issues.create',
  'issues.createChild',
  'issues.linkApproval',
  'issues.release',
  'issues.unlinkApproval',
  'issues.update',
  'labels.create',
  'labels.delete',
  'labels.update',
  'projects.create',
  'projects.delete',
  'projects.update',
  'runs.cancel',
])

const FOR_OWNERS = new Set(['companies.delete', 'members.update'])

/** What is read only by who may change it. */
const READ_BY_ADMINS = new Set(['agents.listKeys', 'invitations.list', 'invites.list'])

/** What the use case decides by itself: it is about the person who asks, or founds a company. */
const FOR_THEMSELVES = new Set(['companies.create', 'members.remove'])

/**
 * The least role that an endpoint asks of a person in the company it is about.
 * What is in no list is for everybody to read and for admins to do, so that an
 * endpoint that is forgotten here is closed, not open.
 */
export function leastRole({ id, method }: { id: string; method: string }): Role {
  if (FOR_OWNERS.has(id)) return 'owner'
  if (FOR_MEMBERS.has(id)) return 'member'
  if (FOR_THEMSELVES.has(id)) return 'viewer'
  return method === 'GET' && !READ_BY_ADMINS.has(id) ? 'viewer' : 'admin'
}

/** Whether a person's role in a company is enough for what is asked. Local mode's board may do everything. */
export function mayAct(caller: BoardCaller, companyId: string): boolean {
  const role = caller.roles?.get(companyId)
  return caller.roles === null || (role !== undefined && reaches(role, caller.needs))
}

/**
 * Refuses a person whose role in a company is too low, as it stands in the
 * database at this moment: inside a write this holds to its end.
 *
 * @param least where it is not what the endpoint asks for
 */
export function requireRole(ctx: Context, caller: Caller, companyId: string, least?: Role): void {
  if (caller.type !== 'board' || caller.roles === null) return
  const needed = least ?? caller.needs
  const role = findMembership(ctx.db, { companyId, userId: caller.userId })?.role
  if (!role || !reaches(role, needed)) throw tooLow(role, needed)
}

export const tooLow = (role: Role | undefined, needed: Role) =>
  forbidden(
    `${role ? `You are ${withArticle(role)} of this company` : 'You do not belong to this company'}; this is for ${needed === 'owner' ? 'its owners' : `its ${ROLES.slice(ROLES.indexOf(needed)).join('s, ')}s`}.`,
    { role: role ?? null, needed },
  )

export const withArticle = (role: Role) => (role === 'owner' || role === 'admin' ? `an ${role}` : `a ${role}`)
