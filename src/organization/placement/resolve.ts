import type { Context } from '../../platform/context.ts'
import { unprocessable } from '../../platform/errors.ts'
import { findPlacement, isAnyPlacement, listPlacements, placementFor } from './queries.ts'

/** The name of this machine, where a placement is named. */
export const LOCAL = 'local'

const KEY = 'placements'

/**
 * Whether the instance has placements, or an agent or a project names a
 * removed one: its runs must wait, and not execute on this machine. The result
 * is cached after one query. If it is false, no further query about placements runs.
 */
export function hasPlacements(ctx: Context): boolean {
  const known = ctx.lastWritten.get(KEY)
  if (known !== undefined) return known === 'some'
  const isAny = isAnyPlacement(ctx.db)
  ctx.lastWritten.set(KEY, isAny ? 'some' : 'none')
  return isAny
}

/** Must be called whenever a placement is added or removed. */
export const forgetPlacements = (ctx: Context): void => void ctx.lastWritten.delete(KEY)

/** Returns the name of the placement of an agent's run on an issue; null for this machine. */
export function choosePlacement(ctx: Context, of: { agentId: string; issueId: string | null }): string | null {
  if (!hasPlacements(ctx)) return null
  const name = placementFor(ctx.db, of)
  return name === LOCAL ? null : name
}

/**
 * Refuses the name of a placement that does not exist.
 *
 * @param field the field of the request that names it
 */
export function assertPlacementExists(ctx: Context, field: string, name: string | null | undefined): void {
  if (name == null || name === LOCAL || findPlacement(ctx.db, { name })) return
  const names = [LOCAL, ...listPlacements(ctx.db).map((placement) => placement.name)]
  throw unprocessable(field, `there is no placement ${name}. The placements are: ${names.join(', ')}.`)
}
