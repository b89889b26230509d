import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { isSpent } from '../cost/budget-status.ts'
import { toCents, toDollars } from '../cost/money.ts'
import { agentSpend } from '../cost/queries.ts'
import { requestStops } from '../run/stop.ts'
import { dropWaitingWakes, resetWakeDepth } from '../wake/queries.ts'
import type { AgentRow } from './agent.ts'
import { assertTransition, type PauseReason } from './lifecycle.ts'
import { updateAgent } from './queries.ts'
import { firstTimerDue } from './timer.ts'

/** Pauses an agent by hand. An agent that was paused for another reason can then be resumed by the board only. */
export function pauseAgentManually(ctx: Context, caller: Caller, agent: AgentRow, message: string | undefined): void {
  if (agent.status === 'paused' && agent.pause_reason === 'manual' && message === undefined) return
  pauseAgent(ctx, caller, agent, { reason: 'manual', message: message ?? 'Paused by the board.' })
}

/**
 * Pauses an agent, drops its waiting wake and stops its live runs. After a
 * pause for its budget, the wake waits until the budget allows it.
 *
 * @param why.keepsWake whether the wake waits for another reason
 */
export function pauseAgent(
  ctx: Context,
  caller: Caller,
  agent: AgentRow,
  { keepsWake = false, ...why }: { reason: PauseReason; message: string; keepsWake?: boolean },
): void {
  if (agent.status !== 'paused') assertTransition(agent, 'paused')
  updateAgent(ctx.db, agent.id, {
    status: 'paused',
    pause_reason: why.reason,
    pause_message: why.message,
    paused_at: agent.paused_at ?? ctx.now,
    timer_due_at: null,
    updated_at: ctx.now,
  })
  if (why.reason !== 'budget' && !keepsWake)
    dropWaitingWakes(ctx.db, { agentId: agent.id, reason: 'paused', at: ctx.now })
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: 'agent.paused',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, ...why },
  })
  requestStops(ctx, { agentId: agent.id }, why.reason === 'budget' ? 'budget' : 'paused')
}

/** Resumes an agent that is paused, failed or held for its provider. Refused while its budget is spent. */
export function resumeAgent(ctx: Context, caller: Caller, agent: AgentRow): void {
  const isHeld = agent.status === 'idle' && agent.held_until !== null
  if (agent.status !== 'paused' && agent.status !== 'error' && !isHeld) {
    const message = `${agent.name} is ${agent.status}. Only an agent that is paused, in error or held can be resumed.`
    throw new AppError('invalid_transition', message, { from: agent.status, to: 'idle' })
  }
  const spent = agentSpend(ctx.db, { companyId: agent.company_id, agentId: agent.id, now: ctx.now })
  if (isSpent(agent.budget_micros, spent)) {
    throw new AppError(
      'budget_exceeded',
      `${agent.name} has spent ${toDollars(spent)} of its ${toDollars(agent.budget_micros)} of this month. Raise its budget, which resumes it.`,
      { spentMonthlyCents: toCents(spent), budgetMonthlyCents: toCents(agent.budget_micros) },
    )
  }
  activateAgent(ctx, caller, agent)
}

/** Sets a paused, failed or approved agent to idle: clears the pause and the failures, and starts its timer. */
export function activateAgent(
  ctx: Context,
  caller: Caller,
  agent: AgentRow,
  action: 'agent.resumed' | 'agent.activated' = 'agent.resumed',
): void {
  if (agent.status !== 'idle') assertTransition(agent, 'idle')
  updateAgent(ctx.db, agent.id, {
    status: 'idle',
    pause_reason: null,
    pause_message: null,
    paused_at: null,
    error_reason: null,
    failures: 0,
    held_until: null,
    held_because: null,
    resumed_at: ctx.now,
    timer_due_at: firstTimerDue({ ...agent, status: 'idle' }, ctx.now),
    updated_at: ctx.now,
  })
  // A resume is an act of a person, or a new month, so the waiting wake begins a causal chain.
  resetWakeDepth(ctx.db, { agentId: agent.id })
  recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action,
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, from: agent.status, pauseReason: agent.pause_reason },
  })
}
