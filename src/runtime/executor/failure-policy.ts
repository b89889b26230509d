import { SYSTEM } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { holdAgent } from '../../organization/agent/hold.ts'
import { pauseAgent } from '../../organization/agent/pause.ts'
import { findAgent, updateAgent } from '../../organization/agent/queries.ts'
import { requestWake } from '../../organization/agent/wake.ts'
import { listTries } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Ending } from '../process/ending.ts'
import { backoff } from './backoff.ts'
import type { FactSummary } from './facts.ts'
import { pauseForLoop } from './loop.ts'
import { holdForMissingProgram } from './missing-program.ts'
import { holdForRateLimit } from './rate-limit.ts'
import { isSystemFaultCode } from './system-fault.ts'

/** So many failed runs in a row pause the agent. */
const FAILURES_UNTIL_PAUSE = 3

/** Decides what follows the end of a run: nothing, another try (now or later), or a pause of its agent. */
export function applyFailurePolicy(ctx: Context, run: RunRow, ending: Ending, facts: FactSummary): void {
  const agent = findAgent(ctx.db, { id: run.agent_id })
  if (!agent || agent.status === 'terminated') return
  switch (run.status) {
    case 'succeeded':
      if (agent.failures > 0 || agent.status === 'error' || agent.held_until !== null) noteSuccess(ctx, agent)
      pauseForLoop(ctx, agent, run)
      return
    case 'cancelled':
      // Not its failure and nobody's wish: it goes on at the next start, or when there is money again.
      if (run.stop_reason === 'shutdown' || run.stop_reason === 'budget') retry(ctx, run, 0)
      return
    case 'lost':
      followLoss(ctx, agent, run, ending)
      return
    default:
      followFailure(ctx, agent, run, ending, facts)
  }
}

/** What never began has cost nothing and is simply begun. What was lost is tried once more: lost twice may well be what kills the server. */
function followLoss(ctx: Context, agent: AgentRow, run: RunRow, ending: Ending): void {
  const losses = triesOf(ctx, run).filter((one) => one.error_code === 'lost')
  if (ending.reason === 'never_started' || losses.length <= 1) retry(ctx, run, 0)
  else countFailure(ctx, agent, run)
}

function followFailure(ctx: Context, agent: AgentRow, run: RunRow, ending: Ending, facts: FactSummary): void {
  const tries = triesOf(ctx, run)
  const waitMs = backoff(tries.length)
  if (facts.isDeadSession && run.session_id_before !== null) {
    retry(ctx, run, 0)
  } else if (facts.rateLimit) {
    const refusals = tries.filter((one) => one.error_code === 'rate_limited').length
    holdForRateLimit(ctx, agent, { until: facts.rateLimit.until, leastMs: waitMs, refusals: Math.max(1, refusals) })
    retry(ctx, run, 0)
  } else if (isSystemFaultCode(run.error_code)) {
    const until = new Date(Date.parse(ctx.now) + waitMs).toISOString()
    holdAgent(ctx, agent, until, `${run.error} The run is tried again at ${until}.`)
    retry(ctx, run, 0)
  } else if (run.error_code === 'sandbox_unavailable') {
    // Installing it repairs this without any change here, so the wake waits for that.
    const until = new Date(Date.parse(ctx.now) + Math.max(waitMs, 60_000)).toISOString()
    holdAgent(ctx, agent, until, run.error!)
    retry(ctx, run, 0)
  } else if (run.error_code === 'command_missing') {
    // It was removed after the scheduler had found it.
    holdForMissingProgram(ctx, agent, waitMs)
    retry(ctx, run, 0)
  } else {
    const isPaused = countFailure(ctx, agent, run)
    // A configuration that cannot start a run does not change by itself. An internal error may pass.
    const isFinal =
      (ending.reason === 'not_started' && run.error_code !== 'internal') || ending.reason === 'spawn_failed'
    if (!isPaused && !isFinal) retry(ctx, run, waitMs)
  }
}

/** The run's root cause and all that was tried for it, this run included. */
const triesOf = (ctx: Context, run: RunRow) => listTries(ctx.db, { rootId: run.retry_of_run_id ?? run.id })

/** @returns whether the agent is paused by it */
function countFailure(ctx: Context, agent: AgentRow, run: RunRow): boolean {
  const failures = agent.failures + 1
  const error = run.error ?? 'The run failed.'
  const status = agent.status === 'idle' ? 'error' : agent.status
  updateAgent(ctx.db, agent.id, { status, failures, error_reason: error, updated_at: ctx.now })
  if (failures < FAILURES_UNTIL_PAUSE || agent.status === 'paused') return false
  const message = `${failures} runs in a row failed, the last one with: ${error}`
  pauseAgent(ctx, SYSTEM, { ...agent, status }, { reason: 'failures', message })
  return true
}

const noteSuccess = (ctx: Context, agent: AgentRow) =>
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
