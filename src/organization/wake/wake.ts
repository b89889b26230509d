import type { Selectable } from 'kysely'
import { v7 as uuid } from 'uuid'
import { actorOf, type Caller } from '../../access/caller.ts'
import type { Context } from '../../platform/context.ts'
import type { RunTable, WakeTable } from '../../platform/database/tables.ts'
import type { AgentRow } from '../agent/agent.ts'
import { findAgent } from '../agent/queries.ts'
import { heartbeatOf } from '../agent/runtime-config.ts'
import { findWaitingWake, insertWake, mergeWake } from './queries.ts'

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
  /** The row of the activity that tells what caused it; null for a timer, and for what left no row. */
  activityId: string | null
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
  /** The run that this one repeats, at the root of its retries; its own reasons come first. */
  retryOf?: { id: string; reasons: string }
  /** What caused it: the activity's row, and the run, where that is not the caller's own. */
  cause?: { activityId?: string; runId?: string }
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
  if (refusesWakes(agent, caller, want.source)) return undefined
  const waiting = findWaitingWake(ctx.db, { agentId: agent.id })
  const values = wakeAfter(waiting, want, reasonOf(caller, want, ctx.now))
  if (waiting) return merge(ctx, waiting, { ...waiting, ...values, updated_at: ctx.now })
  const wake = insertWake(ctx.db, {
    ...values,
    id: uuid(),
    company_id: agent.company_id,
    agent_id: agent.id,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  announce(ctx, wake)
  return wake
}

/**
 * Whether a cause wakes an agent not: it works elsewhere and reads its inbox, or
 * it is limited to its timer and the board's own button, and this is neither.
 */
export function refusesWakes(agent: AgentRow, caller: Caller, source: WakeSource): boolean {
  if (agent.adapter_type === 'none') return true
  const isByHand = source === 'on_demand' && caller.type === 'board'
  return !heartbeatOf(agent).wakeOnDemand && source !== 'timer' && source !== 'retry' && !isByHand
}

export function reasonOf(caller: Caller, want: WakeRequest, at: string): WakeReason {
  const actor = actorOf(caller)
  return {
    source: want.source,
    issueId: want.issueId ?? null,
    commentId: want.commentId ?? null,
    approvalId: want.approvalId ?? null,
    actorType: actor.type,
    actorId: actor.id,
    runId: want.cause?.runId ?? (caller.type === 'agent' ? caller.runId : null),
    activityId: want.cause?.activityId ?? null,
    at,
  }
}

/**
 * What a wake is once a cause has been added: to the one that waits, or as a
 * wake of its own. A busy agent is told of every comment on its issues, so
 * this reads none of the reasons that there are.
 */
export function wakeAfter(waiting: WakeRow | undefined, want: WakeRequest, reason: WakeReason) {
  const priority = want.priority ?? (want.source === 'timer' ? 3 : want.source === 'on_demand' ? 0 : 2)
  const notBefore = want.notBefore ?? null
  return {
    ...keep(waiting?.reasons ?? '[]', waiting?.reason_count ?? 0, want, reason),
    issue_id: waiting?.issue_id ?? reason.issueId,
    priority: Math.min(waiting?.priority ?? priority, priority),
    // Whatever may go at once takes what waits along.
    not_before: !waiting ? notBefore : notBefore && waiting.not_before ? earlier(notBefore, waiting.not_before) : null,
    retry_of_run_id: waiting?.retry_of_run_id ?? want.retryOf?.id ?? null,
  }
}

/** Writes a wake that another cause was merged into, if that changed anything. */
function merge(ctx: Context, waiting: WakeRow, merged: WakeRow): WakeRow {
  const mayGoSooner = merged.priority !== waiting.priority || merged.not_before !== waiting.not_before
  const isSame = merged.reason_count === waiting.reason_count && merged.issue_id === waiting.issue_id && !mayGoSooner
  if (isSame && merged.retry_of_run_id === waiting.retry_of_run_id) return waiting
  mergeWake(ctx.db, merged)
  if (mayGoSooner) announce(ctx, merged)
  return merged
}

/** Adds reasons to the JSON array of those there are, as text; the first ones stay when there are too many. */
function keep(kept: string, count: number, want: WakeRequest, reason: WakeReason) {
  const carried = want.retryOf ? (JSON.parse(want.retryOf.reasons) as WakeReason[]) : []
  const added = [...carried, reason].slice(0, Math.max(0, KEPT_REASONS - count))
  if (added.length === 0) return { reasons: kept, reason_count: count }
  const more = added.map((one) => JSON.stringify(one)).join(',')
  return { reasons: `${kept.slice(0, -1)}${count > 0 ? ',' : ''}${more}]`, reason_count: count + added.length }
}

/** Tells the scheduler, once it is durable, that something may run. */
function announce(ctx: Context, wake: WakeRow): void {
  const data = { agentId: wake.agent_id, wakeId: wake.id }
  ctx.afterCommit(() => ctx.events.publish({ companyId: wake.company_id, type: 'wake.waiting', data }))
}

const earlier = (a: string, b: string) => (a < b ? a : b)
