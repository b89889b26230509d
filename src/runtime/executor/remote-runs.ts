import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Follow, RunProcess } from '../process/follow.ts'
import type { Persist } from './persist.ts'
import type { RunTokens } from './run-token.ts'

/** Starts and follows the runs of this server that execute in placements. */
export interface RemoteRuns {
  /**
   * Submits a claimed run to the engine of its placement.
   *
   * @throws NotStartable if the run or the placement does not allow it
   */
  launch(run: RunRow, onFacts: Follow['onFacts']): Promise<RunProcess>
  /** Follows a run of a previous server, which submitted it or stopped before the submission. */
  adopt(run: RunRow, onFacts: Follow['onFacts']): Promise<RunProcess>
  /** Stops following. The runs continue. */
  close(): Promise<void>
}

export interface RemoteDependencies {
  persist: Persist
  tokens: RunTokens
}

/** Creates the `RemoteRuns` of the executor. It is called for the first run in a placement. */
export type OpenRemoteRuns = (ctx: Context, dependencies: RemoteDependencies) => Promise<RemoteRuns>
