import { findRun } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { FolderRequest } from '../../work/approval/folder.ts'
import { isSandboxed } from '../isolation/isolate.ts'
import { NotStartable } from '../not-startable.ts'
import type { Ending } from '../process/ending.ts'
import type { Follow, RunProcess } from '../process/follow.ts'
import { spawnRun } from '../process/process.ts'
import { runFolder } from '../process/run-files.ts'
import { updateWorktree } from '../worktree/queries.ts'
import { type Worktrees, withSetup } from '../worktree/worktrees.ts'
import type { Persist } from './persist.ts'
import { prepareRun, type RuntimeDependencies } from './prepare.ts'
import { recordIntent } from './record-intent.ts'
import type { OpenRemoteRuns, RemoteRuns } from './remote-runs.ts'
import type { RunTokens } from './run-token.ts'
import { toSystemFault } from './system-fault.ts'

export interface LaunchDependencies extends RuntimeDependencies {
  /** The program and arguments that start the shim. */
  shim: readonly [string, ...string[]]
  tokens: RunTokens
  openRemoteRuns: OpenRemoteRuns
}

interface Launcher {
  persist: Persist
  dependencies: LaunchDependencies
  worktrees: Worktrees
  remoteRuns(): Promise<RemoteRuns>
}

/**
 * Starts a claimed run: token -> workspace -> spawn. Never throws.
 *
 * @returns the process; or, if none was started, the ending and the folders that the board would have to allow
 */
export async function launchRun(
  ctx: Context,
  run: RunRow,
  onFacts: Follow['onFacts'],
  { persist, dependencies, worktrees, remoteRuns }: Launcher,
): Promise<{ process: RunProcess } | { ending: Ending; folders: readonly FolderRequest[] }> {
  try {
    if (run.placement !== null) return { process: await (await remoteRuns()).launch(run, onFacts) }
    const token = await dependencies.tokens.sign({ id: run.id, agentId: run.agent_id, companyId: run.company_id })
    const worktree = await worktrees.open(run)
    const prepared = await prepareRun(ctx, run, token, dependencies)
    // An agent with a cwd of its own does not work in the worktree.
    const used = prepared.spec.cwd === worktree?.row.cwd ? worktree : null
    await persist(() => {
      recordIntent(ctx, run.id, prepared, used?.head ?? null)
      if (used && isSandboxed(prepared.spec)) updateWorktree(ctx.db, used.row.issue_id, { is_sandboxed: 1 })
    })
    // A stop that was requested during the preparation found no process.
    if (findRun(ctx.db, { id: run.id })?.stop_reason) return { ending: STOPPED_BEFORE_SPAWN, folders: [] }
    const runDir = runFolder(ctx.config, run.id)
    const spec = used?.setupCommand ? withSetup(prepared.spec, used.setupCommand) : prepared.spec
    return { process: await spawnRun(spec, { shim: dependencies.shim, runDir, onFacts }) }
  } catch (error) {
    return { ending: toEnding(ctx, run, error), folders: error instanceof NotStartable ? error.folders : [] }
  }
}

const STOPPED_BEFORE_SPAWN: Ending = { reason: 'stopped', exitCode: null, signal: null, error: null, at: null }

function toEnding(ctx: Context, run: RunRow, error: unknown): Ending {
  const expected = error instanceof NotStartable ? error : toSystemFault(error)
  if (!(error instanceof NotStartable)) {
    ctx.log.error('A run could not be started.', {
      runId: run.id,
      error: String((error as Error)?.stack ?? error),
    })
  }
  const { code, message } = expected ?? { code: 'internal', message: 'Internal error.' }
  return { reason: 'not_started', exitCode: null, signal: null, error: { code, message }, at: null }
}
