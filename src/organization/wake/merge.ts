import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { parseReasons, type WakeReason, type WakeRow, type WakeSource } from './wake.ts'

/** The request of a use case for a run of an agent. */
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

/**
 * The number of reasons from which a wake stores only the latest of each
 * subject. The wakes of a paused agent would otherwise grow without limit.
 */
const MAX_REASONS = 50

/** The maximum number of reasons if each has a different subject. */
const MAX_SUBJECTS = 500

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
 *
 * @param added the reasons of the request, at least one, oldest first
 */
export function mergeRequest(waiting: WakeRow | undefined, request: WakeRequest, added: readonly WakeReason[]) {
  const priority = request.priority ?? DEFAULT_PRIORITY[request.source] ?? 2
  const notBefore = request.notBefore ?? null
  const reasons = withoutSuperseded([
    ...(waiting ? parseReasons(waiting) : []),
    ...(request.retryOf ? parseReasons(request.retryOf) : []),
    ...added,
  ])
  return {
    reasons: JSON.stringify(reasons),
    issue_id: waiting?.issue_id ?? added[0]!.issueId,
    priority: Math.min(waiting?.priority ?? priority, priority),
    not_before: waiting ? earlierStart(waiting.not_before, notBefore) : notBefore,
    retry_of_run_id: waiting?.retry_of_run_id ?? request.retryOf?.id ?? null,
    fresh_session: request.freshSession ? 1 : (waiting?.fresh_session ?? 0),
  }
}

/**
 * Removes the oldest reasons that have a later one of the same subject, until
 * at most 50 are left. A run thus receives the latest comment of each issue and
 * every approval. The first reason is never removed, because it is the cause of the wake.
 */
function withoutSuperseded(reasons: readonly WakeReason[]): readonly WakeReason[] {
  let excess = reasons.length - MAX_REASONS
  if (excess <= 0) return reasons
  // The reasons of a retried run are older than those of the waiting wake.
  const inOrder = reasons.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const latest = new Map(inOrder.map((reason, i) => [subjectOf(reason), i]))
  const left = inOrder.filter((reason, i) => i === 0 || latest.get(subjectOf(reason)) === i || excess-- <= 0)
  return left.length <= MAX_SUBJECTS ? left : [left[0]!, ...left.slice(1 - MAX_SUBJECTS)]
}

const subjectOf = ({ source, issueId, approvalId }: WakeReason) => `${source} ${issueId} ${approvalId}`

/** The earlier of two starts. Null means at once: if any cause may start now, the merged wake starts now. */
const earlierStart = (a: string | null, b: string | null) => (a === null || b === null ? null : a < b ? a : b)
