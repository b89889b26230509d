import type { Caller } from '../../access/caller/caller.ts'

/** Returns the ids of the companies that a caller belongs to; null if it may see all of them. */
export function companyIdsOf(caller: Caller): string[] | null {
  const ids =
    caller.type === 'agent'
      ? [caller.companyId]
      : caller.type === 'board'
        ? caller.roles && [...caller.roles.keys()]
        : null
  return ids && [...ids]
}
