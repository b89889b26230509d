import { updateRun } from '../../organization/run/queries.ts'
import type { RunChanges } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Ending } from '../process/ending.ts'
import { updateWorktree } from './queries.ts'
import { SETUP_FAILED } from './worktrees.ts'

/** Stores the changes of a run in its worktree. If the program of the run exited, the set-up command has succeeded. */
export function recordChanges(ctx: Context, runId: string, changes: RunChanges, ending: Ending): void {
  const run = updateRun(ctx.db, runId, { changes: JSON.stringify(changes) })
  const hasExited = ending.reason === 'exited' || ending.reason === 'after_result'
  if (hasExited && ending.exitCode !== SETUP_FAILED) updateWorktree(ctx.db, run.issue_id!, { is_set_up: 1 })
}
