import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import { costsOfRuns, findRun } from './queries.ts'
import { type Run, type RunRow, toRun } from './run.ts'

/**
 * Returns a run.
 *
 * @throws AppError not_found if it does not exist or belongs to a company that the caller may not access
 */
export function getRun(ctx: Context, caller: Caller, id: string): RunRow {
  const run = findRun(ctx.db, { id })
  return requireVisible(ctx, caller, run, 'run', id)
}

/** Returns a run as the API shows it, with its costs. */
export const showRun = (ctx: Context, run: RunRow): Run => toRun(run, costsOfRuns(ctx.db, [run.id]).get(run.id))
