import { SYSTEM } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { holdAgent } from '../../organization/agent/hold.ts'
import { findAgent, updateAgent } from '../../organization/agent/queries.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import { listTries } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Ending } from '../process/ending.ts'
import { backoff } from './backoff.ts'
import type { FactSummary } from './facts.ts'
import { holdForMissingProgram } from './missing-program.ts'
import { pauseAfterFailures } from './pause-after-failures.ts'
import { pauseUnchangedLoop } from './pause-unchanged-loop.ts'
import { holdForRateLimit } from './rate-limit.ts'
import { isSystemFaultCode } from './system-fault.ts'

/** Applies the consequence of a run's end: none, a retry (now or later), a hold or a pause of its agent. */
export function applyFailurePolicy(ctx: Context, run: RunRow, ending: Ending, facts: FactSummary): void {
  const agent = findAgent(ctx.db, { id: run.agent_id })
  if (!agent || agent.status === 'terminated') return
  switch (run.status) {
    case 'succeeded':
      if (agent.failures > 0 || agent.status === 'error' || agent.held_until !== null) clearFailures(ctx, agent)
      pauseUnchangedLoop(ctx, agent, run)
      return
    case 'cancelled':
      // The agent did not fail and nobody cancelled the run: it continues at the next start, or after the budget is raised.
      if (run.stop_reason === 'shutdown' || run.stop_reason === 'budget') retry(ctx, run, 0)
      return
    case 'lost':
      handleLoss(ctx, agent, run, ending)
      return
    default:
      handleFailure(ctx, agent, run, ending, facts)
  }
}

/**
 * Retries a run that never started, at no cost. Retries a lost run once: a run
 * that is lost twice may be the cause of the server's crash.
 */
function handleLoss(ctx: Context, agent: AgentRow, run: RunRow, ending: Ending): void {
  const losses = listAttempts(ctx, run).filter((one) => one.error_code === 'lost')
  if (ending.reason === 'never_started' || losses.length <= 1) retry(ctx, run, 0)
  else pauseAfterFailures(ctx, agent, run)
}

function handleFailure(ctx: Context, agent: AgentRow, run: RunRow, ending: Ending, facts: FactSummary): void {
  const attempts = listAttempts(ctx, run)
  const waitMs = backoff(attempts.length)
  if (facts.isDeadSession && run.session_id_before !== null) {
    retry(ctx, run, 0)
  } else if (facts.rateLimit) {
    const refusals = attempts.filter((one) => one.error_code === 'rate_limited').length
    holdForRateLimit(ctx, agent, { until: facts.rateLimit.until, leastMs: waitMs, refusals: Math.max(1, refusals) })
    retry(ctx, run, 0)
  } else if (isSystemFaultCode(run.error_code)) {
    const until = new Date(Date.parse(ctx.now) + waitMs).toISOString()
    holdAgent(ctx, agent, until, `${run.error} The run is tried again at ${until}.`)
    retry(ctx, run, 0)
  } else if (run.error_code === 'sandbox_unavailable' || run.error_code === 'placement_unavailable') {
    // Installing the sandbox changes no row that could start the wake, so the server tries again later.
    const until = new Date(Date.parse(ctx.now) + Math.max(waitMs, 60_000)).toISOString()
    holdAgent(ctx, agent, until, run.error!)
    retry(ctx, run, 0)
  } else if (run.error_code === 'command_missing') {
    // The program was removed after the scheduler had found it.
    holdForMissingProgram(ctx, agent, waitMs)
    retry(ctx, run, 0)
  } else {
    const isPaused = pauseAfterFailures(ctx, agent, run)
    // A retry does not repair a configuration that cannot start a run. It may help after an internal error.
    const isFinal =
      (ending.reason === 'not_started' && run.error_code !== 'internal') || ending.reason === 'spawn_failed'
    if (!isPaused && !isFinal) retry(ctx, run, waitMs)
  }
}

/** Lists the first run and all its retries, this run included. */
const listAttempts = (ctx: Context, run: RunRow) => listTries(ctx.db, { rootId: run.retry_of_run_id ?? run.id })

/** Clears the failures and the hold of an agent after a successful run. */
const clearFailures = (ctx: Context, agent: AgentRow) =>
  updateAgent(ctx.db, agent.id, {
    status: agent.status === 'error' ? 'idle' : agent.status,
    failures: 0,
    error_reason: null,
    held_until: null,
    held_because: null,
    updated_at: ctx.now,
  })

function retry(ctx: Context, run: RunRow, waitMs: number): void {
  requestWake(ctx, SYSTEM, {
    agentId: run.agent_id,
    source: 'retry',
    issueId: run.issue_id,
    cause: { runId: run.id },
    retryOf: { id: run.retry_of_run_id ?? run.id, reasons: run.reasons },
    notBefore: waitMs > 0 ? new Date(Date.parse(ctx.now) + waitMs).toISOString() : null,
  })
}
