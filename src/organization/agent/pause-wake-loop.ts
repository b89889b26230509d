import { type Caller, SYSTEM } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { findRun } from '../run/queries.ts'
import type { WakeRequest } from '../wake/merge.ts'
import type { WakeRow } from '../wake/wake.ts'
import type { AgentRow } from './agent.ts'
import { isReady } from './lifecycle.ts'
import { pauseAgent } from './pause.ts'
import { findAgent, findLastRun } from './queries.ts'

/** The time for which an action with a long-lived key counts as caused by the agent's latest run, in milliseconds. */
const KEY_LINK_MS = 60 * 60_000

/**
 * Returns the causal depth of a wake after a request: the number of runs in the
 * chain of causes before it. An action of a person resets it to zero, even for
 * a wake that already waits. The timer counts as zero but does not end a chain.
 */
export function wakeDepth(ctx: Context, caller: Caller, request: WakeRequest, waiting: WakeRow | undefined): number {
  if (caller.type === 'board') return 0
  return Math.max(waiting?.depth ?? 0, requestDepth(ctx, caller, request))
}

function requestDepth(ctx: Context, caller: Caller, request: WakeRequest): number {
  if (request.retryOf) return findRun(ctx.db, request.retryOf)?.depth ?? 0
  if (caller.type !== 'agent') return 0
  const cause = caller.runId === null ? findRecentRun(ctx, caller.agentId) : findRun(ctx.db, { id: caller.runId })
  return cause ? cause.depth + 1 : 0
}

function findRecentRun(ctx: Context, agentId: string) {
  const run = findLastRun(ctx.db, { agentId })
  return run && Date.parse(run.created_at) > Date.parse(ctx.now) - KEY_LINK_MS ? run : undefined
}

/**
 * Pauses two agents that wake each other without a person in between.
 * Their wakes wait until the board resumes them.
 */
export function pauseWakeLoop(ctx: Context, caller: Caller, target: AgentRow): void {
  const source = caller.type === 'agent' ? findAgent(ctx.db, { id: caller.agentId }) : undefined
  const pause = (agent: AgentRow | undefined, other: AgentRow | undefined) => {
    if (!agent || !isReady(agent.status)) return
    const message = `Runs woke each other ${ctx.config.maxWakeDepth} times in a row without an action of a person (maxWakeDepth)${other ? `, the last time with ${other.name}` : ''}, which indicates a loop. Read their comments, then resume the agent. Its wake remains queued.`
    pauseAgent(ctx, SYSTEM, agent, { reason: 'loop', message, keepsWake: true })
  }
  pause(target, source)
  pause(source, target)
}
