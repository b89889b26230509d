import { SYSTEM } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { pauseAgent } from '../../organization/agent/pause.ts'
import { updateAgent } from '../../organization/agent/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'

/** The number of consecutive failed runs that pauses the agent. */
const FAILURES_UNTIL_PAUSE = 3

/**
 * Records the failure on the agent, and pauses the agent after too many in a row.
 *
 * @returns whether this failure pauses the agent
 */
export function pauseAfterFailures(ctx: Context, agent: AgentRow, run: RunRow): boolean {
  const failures = agent.failures + 1
  const error = run.error ?? 'The run failed.'
  const status = agent.status === 'idle' ? 'error' : agent.status
  updateAgent(ctx.db, agent.id, { status, failures, error_reason: error, updated_at: ctx.now })
  if (failures < FAILURES_UNTIL_PAUSE || agent.status === 'paused') return false
  const message = `${failures} runs in a row failed, the last one with: ${error}`
  pauseAgent(ctx, SYSTEM, { ...agent, status }, { reason: 'failures', message })
  return true
}
