import type { Selectable } from 'kysely'
import { v7 as uuid } from 'uuid'
import { findAgent } from '../agent/queries.ts'
import { heartbeatOf } from '../agent/runtime-config.ts'
import type { Context } from '../context.ts'
import type { RunTable, WakeTable } from '../database/tables.ts'
import { actorOf, type Caller } from '../http/caller.ts'
import { findWaitingWake, insertWake, updateWake } from './queries.ts'

export type WakeRow = Selectable<WakeTable>
export type WakeSource = RunTable['source']

/** One cause of a wake, as it is kept on the wake and on the run that it leads to. */
export interface WakeReason {
  source: WakeSource
  issueId: string | null
  commentId: string | null
  approvalId: string | null
  actorType: 'agent' | 'user' | 'system'
  actorId: string
  /** The run that caused it, if one did. */
  runId: string | null
  at: string
}

export interface WakeRequest {
  agentId: string
  source: WakeSource
  issueId?: string | null
  commentId?: string | null
  approvalId?: string | null
  /** How urgent: an issue's priority rank, 0 first. Default 2; a timer is 3. */
  priority?: number
  /** Not before this moment. */
  notBefore?: string | null
  /** The run that this one repeats; its own reasons come first. */
  retryOf?: { id: string; reasons: string }
}

/** How many reasons one wake keeps; the first ones say what began it. */
const KEPT_REASONS = 50

/**
 * Asks for a run of an agent, in the transaction that causes it. An agent has
 * at most one waiting wake: later causes merge into it and keep their reasons.
 * Nothing happens when the agent itself is the cause, when it is terminated or
 * not yet approved, when its adapter starts nothing, or when `wakeOnDemand: false` limits it to its timer and
 * the board's own button. A paused agent's wake waits until it is resumed.
 *
 * @returns the waiting wake, or undefined when there is none
 */
export function requestWake(ctx: Context, caller: Caller, want: WakeRequest): WakeRow | undefined {
  if (caller.type === 'agent' && caller.agentId === want.agentId) return undefined
  const agent = findAgent(ctx.db, { id: want.agentId })
  if (!agent || agent.status === 'terminated' || agent.status === 'pending_approval') return undefined
  // An agent that works elsewhere has nothing to start; it reads its inbox.
  if (agent.adapter_type === 'none') return undefined
  const byHand = want.source === 'on_demand' && caller.type === 'board'
  if (!heartbeatOf(agent).wakeOnDemand && want.source !== 'timer' && want.source !== 'retry' && !byHand)
    return undefined

  const actor = actorOf(caller)
  const reason: WakeReason = {
    source: want.source,
    issueId: want.issueId ?? null,
    commentId: want.commentId ?? null,
    approvalId: want.approvalId ?? null,
    actorType: actor.type,
    actorId: actor.id,
    runId: caller.type === 'agent' ? caller.runId : null,
    at: ctx.now,
  }
  const wake = mergeOrInsert(ctx, agent.company_id, want, reason)
  ctx.afterCommit(() =>
    ctx.events.publish({
      companyId: agent.company_id,
      type: 'wake.waiting',
      data: { agentId: agent.id, wakeId: wake.id },
    }),
  )
  return wake
}

function mergeOrInsert(ctx: Context, companyId: string, want: WakeRequest, reason: WakeReason): WakeRow {
  const priority = want.priority ?? (want.source === 'timer' ? 3 : want.source === 'on_demand' ? 0 : 2)
  const carried = want.retryOf ? (JSON.parse(want.retryOf.reasons) as WakeReason[]) : []
  const waiting = findWaitingWake(ctx.db, { agentId: want.agentId })
  if (!waiting) {
    return insertWake(ctx.db, {
      id: uuid(),
      company_id: companyId,
      agent_id: want.agentId,
      reasons: JSON.stringify([...carried, reason].slice(0, KEPT_REASONS)),
      issue_id: reason.issueId,
      priority,
      not_before: want.notBefore ?? null,
      retry_of_run_id: want.retryOf?.id ?? null,
      created_at: ctx.now,
      updated_at: ctx.now,
    })
  }
  const reasons = [...(JSON.parse(waiting.reasons) as WakeReason[]), ...carried, reason].slice(0, KEPT_REASONS)
  return updateWake(ctx.db, waiting.id, {
    reasons: JSON.stringify(reasons),
    issue_id: waiting.issue_id ?? reason.issueId,
    priority: Math.min(waiting.priority, priority),
    // Whatever may go at once takes what waits along.
    not_before: want.notBefore && waiting.not_before ? earlier(want.notBefore, waiting.not_before) : null,
    retry_of_run_id: waiting.retry_of_run_id ?? want.retryOf?.id ?? null,
    updated_at: ctx.now,
  })
}

const earlier = (a: string, b: string) => (a < b ? a : b)
