import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { parseReasons, type WakeReason, type WakeRow, type WakeSource } from './wake.ts'

/** What a use case asks for when it requests a run of an agent. */
export interface WakeRequest {
  agentId: string
  source: WakeSource
  issueId?: string | null
  commentId?: string | null
  approvalId?: string | null
  /** The rank of an issue's priority, 0 for the most urgent. Default: 0 on demand, 3 for a timer, 2 otherwise. */
  priority?: number
  /** The earliest start. Default: at once. */
  notBefore?: string | null
  /** The first run of the series that this run retries. Its reasons precede the new one. */
  retryOf?: { id: string; reasons: string }
  /** Whether the run starts a new session, even if the agent has one on the issue. */
  freshSession?: boolean
  /** The activity that records the cause, and the run that caused it if that is not the caller's run. */
  cause?: { activityId?: string; runId?: string }
}

/** A wake stores at most this many reasons: the first ones, because they show what started it. */
const MAX_REASONS = 50

export function toReason(caller: Caller, request: WakeRequest, at: string): WakeReason {
  const actor = actorOf(caller)
  return {
    source: request.source,
    issueId: request.issueId ?? null,
    commentId: request.commentId ?? null,
    approvalId: request.approvalId ?? null,
    actorType: actor.type,
    actorId: actor.id,
    runId: request.cause?.runId ?? (caller.type === 'agent' ? caller.runId : null),
    activityId: request.cause?.activityId ?? null,
    at,
  }
}

const DEFAULT_PRIORITY: Partial<Record<WakeSource, number>> = { on_demand: 0, timer: 3 }

/**
 * Returns the columns of the wake after a request: those of the waiting wake
 * with the request merged into it, or those of a new wake.
 */
export function mergeRequest(waiting: WakeRow | undefined, request: WakeRequest, reason: WakeReason) {
  const priority = request.priority ?? DEFAULT_PRIORITY[request.source] ?? 2
  const notBefore = request.notBefore ?? null
  const reasons = [
    ...(waiting ? parseReasons(waiting) : []),
    ...(request.retryOf ? parseReasons(request.retryOf) : []),
    reason,
  ].slice(0, MAX_REASONS)
  return {
    reasons: JSON.stringify(reasons),
    reason_count: reasons.length,
    issue_id: waiting?.issue_id ?? reason.issueId,
    priority: Math.min(waiting?.priority ?? priority, priority),
    not_before: waiting ? earlierStart(waiting.not_before, notBefore) : notBefore,
    retry_of_run_id: waiting?.retry_of_run_id ?? request.retryOf?.id ?? null,
    fresh_session: request.freshSession ? 1 : (waiting?.fresh_session ?? 0),
  }
}

/** The earlier of two starts. Null means at once: if any cause may start now, the merged wake starts now. */
const earlierStart = (a: string | null, b: string | null) => (a === null || b === null ? null : a < b ? a : b)
