import { AppError } from '../../platform/errors.ts'

/** The stored statuses. The API also returns `running`, which is derived from live runs. */
export const AGENT_STATUSES = ['idle', 'paused', 'error', 'pending_approval', 'terminated'] as const
export type AgentStatus = (typeof AGENT_STATUSES)[number]

export const PAUSE_REASONS = ['manual', 'budget', 'failures', 'loop'] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

/** The statuses that may follow each status. A termination is final. */
export const NEXT: Record<AgentStatus, readonly AgentStatus[]> = {
  idle: ['paused', 'error', 'terminated'],
  error: ['idle', 'paused', 'terminated'],
  paused: ['idle', 'terminated'],
  pending_approval: ['idle', 'terminated'],
  terminated: [],
}

/** The statuses in which an agent may work. */
export const READY: readonly AgentStatus[] = ['idle', 'error']

export const isReady = (status: AgentStatus) => READY.includes(status)

/** The statuses that the API returns: an agent with a live run is `running`. */
export const SHOWN_STATUSES = [...AGENT_STATUSES, 'running'] as const
export type ShownStatus = (typeof SHOWN_STATUSES)[number]

/**
 * Refuses a change of status that `NEXT` does not contain. The error lists the
 * allowed ones.
 *
 * @throws AppError 422 `invalid_transition`
 */
export function assertTransition(agent: { name: string; status: AgentStatus }, to: AgentStatus): void {
  const allowed = NEXT[agent.status]
  if (allowed.includes(to)) return
  const then = allowed.length ? `From there it can become ${allowed.join(' or ')}.` : 'That status is final.'
  throw new AppError('invalid_transition', `${agent.name} is ${agent.status} and cannot become ${to}. ${then}`, {
    from: agent.status,
    to,
    allowed,
  })
}
