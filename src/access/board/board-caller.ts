import type { Context } from '../../platform/context.ts'
import type { BoardCaller } from '../caller/caller.ts'
import { listMemberships } from './membership-queries.ts'

/** Returns a person as a caller, with the person's current roles. */
export function boardCaller(ctx: Context, userId: string, via: BoardCaller['via']): BoardCaller {
  const roles = new Map(listMemberships(ctx.db, { userId }).map((row) => [row.company_id, row.role]))
  return { type: 'board', userId, via, roles, requiredRole: 'viewer', isWrite: true }
}
