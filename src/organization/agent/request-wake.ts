import { publishEvent } from '../../access/activity/live-events.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { mergeRequest, toReason, type WakeRequest } from '../wake/merge.ts'
import { findWaitingWake, insertWake, updateWake } from '../wake/queries.ts'
import type { WakeReason, WakeRow, WakeSource } from '../wake/wake.ts'
import type { AgentRow } from './agent.ts'
import { pauseWakeLoop, wakeDepth } from './pause-wake-loop.ts'
import { findAgent } from './queries.ts'
import { heartbeatOf } from './runtime-config.ts'

/**
 * Queues a run of an agent, in the current transaction. An agent has at most
 * one waiting wake: later requests merge into it and add their reasons.
 *
 * The request has no effect if the agent itself is the caller (except for
 * `blockers_resolved`: an assignee is not woken for a blocked issue, so nothing
 * else would start the next one of a chain), if the agent is terminated or not
 * yet approved, or if it does not accept wakes of this source (see
 * `acceptsWake`). The wake of a paused agent waits until the agent resumes.
 * At the depth `maxWakeDepth` of a causal chain, the agents are paused as a loop.
 *
 * @returns the waiting wake, or undefined if the request had no effect
 */
export function requestWake(ctx: Context, caller: Caller, request: WakeRequest): WakeRow | undefined {
  const isOwn = caller.type === 'agent' && caller.agentId === request.agentId
  if (isOwn && request.source !== 'blockers_resolved') return undefined
  const agent = findAgent(ctx.db, { id: request.agentId })
  if (!agent || agent.status === 'terminated' || agent.status === 'pending_approval') return undefined
  if (!acceptsWake(agent, caller, request.source)) return undefined
  const waiting = findWaitingWake(ctx.db, { agentId: agent.id })
  const depth = wakeDepth(ctx, caller, request, waiting)
  if (ctx.config.maxWakeDepth > 0 && depth >= ctx.config.maxWakeDepth) pauseWakeLoop(ctx, caller, agent)
  return storeWake(ctx, agent, waiting, {
    ...mergeRequest(waiting, request, [toReason(caller, request, ctx.now)]),
    depth,
  })
}

/**
 * Queues another run for some reasons of a run, in the current transaction. The
 * reasons and the causal depth do not change.
 *
 * @param reasons at least one, oldest first
 */
export function requeueReasons(ctx: Context, run: { agent_id: string; depth: number }, reasons: readonly WakeReason[]) {
  const agent = findAgent(ctx.db, { id: run.agent_id })
  if (!agent || agent.status === 'terminated') return
  const waiting = findWaitingWake(ctx.db, { agentId: agent.id })
  const request = { agentId: agent.id, source: reasons[0]!.source }
  const depth = Math.max(waiting?.depth ?? 0, run.depth)
  storeWake(ctx, agent, waiting, { ...mergeRequest(waiting, request, reasons), depth })
}

function storeWake(
  ctx: Context,
  agent: AgentRow,
  waiting: WakeRow | undefined,
  values: ReturnType<typeof mergeRequest> & { depth: number },
): WakeRow {
  if (waiting) return merge(ctx, waiting, { ...waiting, ...values, updated_at: ctx.now })
  const wake = insertWake(ctx.db, {
    ...values,
    id: uuid(),
    company_id: agent.company_id,
    agent_id: agent.id,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  publishWaiting(ctx, wake)
  return wake
}

/**
 * Whether wakes of a source can start a run of the agent. The adapter `none`
 * starts no runs. With `wakeOnDemand: false`, only the timer, retries and an
 * invocation by the board start runs.
 */
export function acceptsWake(agent: AgentRow, caller: Caller, source: WakeSource): boolean {
  if (agent.adapter_type === 'none') return false
  const isInvokedByBoard = source === 'on_demand' && caller.type === 'board'
  return heartbeatOf(agent).wakeOnDemand || source === 'timer' || source === 'retry' || isInvokedByBoard
}

/** Stores a merged wake if the merge changed anything. */
function merge(ctx: Context, waiting: WakeRow, merged: WakeRow): WakeRow {
  const mayStartSooner = merged.priority !== waiting.priority || merged.not_before !== waiting.not_before
  const isUnchanged =
    !mayStartSooner &&
    merged.reasons === waiting.reasons &&
    merged.issue_id === waiting.issue_id &&
    merged.depth === waiting.depth &&
    merged.fresh_session === waiting.fresh_session &&
    merged.retry_of_run_id === waiting.retry_of_run_id
  if (isUnchanged) return waiting
  updateWake(ctx.db, merged)
  if (mayStartSooner) publishWaiting(ctx, merged)
  return merged
}

/** Notifies the scheduler and publishes a live event, after the commit, that a run may start. */
function publishWaiting(ctx: Context, wake: WakeRow): void {
  const data = { agentId: wake.agent_id, wakeId: wake.id }
  ctx.afterCommit(() => {
    ctx.signals.wakeQueued()
    publishEvent(ctx, wake.company_id, 'wake.waiting', () => data)
  })
}
