import { forbidden } from '../../platform/errors.ts'

/** The roles of a person in a company, lowest first. Each role includes the permissions of the ones before it. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Whether a role includes the permissions of another. */
export const includesRole = (role: Role, least: Role) => ROLES.indexOf(role) >= ROLES.indexOf(least)

/**
 * Returns the minimum role that an endpoint requires of a person. Without an
 * explicit role, reads require a viewer and writes require an admin. A missing
 * role therefore denies writes instead of allowing them.
 */
export const requiredRole = ({ method, role }: { method: string; role?: Role }): Role =>
  role ?? (method === 'GET' ? 'viewer' : 'admin')

/**
 * Returns the error for a person with an insufficient role in a company.
 *
 * @param role undefined for a person who is not a member
 */
export const roleTooLow = (role: Role | undefined, required: Role) =>
  forbidden(
    `${role ? `You are ${withArticle(role)} of this company` : 'You are not a member of this company'}; this requires the role ${
      required === 'owner' ? 'owner' : `${required} or higher`
    }.`,
    { role: role ?? null, required },
  )

export const withArticle = (role: Role) => (role === 'owner' || role === 'admin' ? `an ${role}` : `a ${role}`)
