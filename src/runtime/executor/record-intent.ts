import { clearAllowedOnce } from '../../organization/agent/queries.ts'
import { updateRun } from '../../organization/run/queries.ts'
import type { Context } from '../../platform/context.ts'
import type { PreparedRun } from './prepare.ts'

/** Records the planned run before the spawn, so that a server after a crash knows which process to look for. */
export function recordIntent(
  ctx: Context,
  runId: string,
  { spec, instructionsHash }: Pick<PreparedRun, 'spec' | 'instructionsHash'>,
  gitHead: string | null,
): void {
  const { agent_id } = updateRun(ctx.db, runId, {
    cwd: spec.cwd,
    git_head: gitHead,
    instructions_hash: instructionsHash,
    grace_sec: spec.graceSec,
    timeout_sec: spec.timeoutSec,
    silence_sec: spec.silenceSec,
    session_id_before: spec.reader.session?.id ?? null,
  })
  clearAllowedOnce(ctx.db, { agentId: agent_id })
}
