import type { AgentRow } from '../agent/agent.ts'
import { holdAgent } from '../agent/pause.ts'
import { findAgent, updateAgent } from '../agent/queries.ts'
import type { Context } from '../context.ts'
import { SYSTEM } from '../http/caller.ts'
import type { FactSummary } from './facts.ts'
import type { RunRow } from './run.ts'
import type { Ending } from './settle.ts'
import { requestWake } from './wake.ts'

/** So many failed runs in a row pause the agent. */
const FAILURES_UNTIL_PAUSE = 3

/** The wait before a failed run is tried again: doubled with each failure, up to the cap. */
const BACKOFF_MS = 10_000
const BACKOFF_CAP_MS = 10 * 60_000

/** The wait when a provider refuses without saying until when. */
const RATE_LIMIT_WAIT_MS = 15 * 60_000

/** Decides what follows the end of a run: nothing, another try (now or later), or a pause of its agent. */
export function applyFailurePolicy(ctx: Context, run: RunRow, ending: Ending, facts: FactSummary): void {
  const agent = findAgent(ctx.db, { id: run.agent_id })
  if (!agent || agent.status === 'terminated') return
  switch (run.status) {
    case 'succeeded':
      if (agent.failures > 0 || agent.status === 'error') noteSuccess(ctx, agent)
      return
    case 'cancelled':
      // Ended by the server's own stop: it goes on at the next start, and it is nobody's failure.
      if (run.stop_reason === 'shutdown') retry(ctx, run, 0)
      return
    case 'lost':
      // Once for a root cause: what is lost twice may well be what kills the server.
      if (run.retry_of_run_id === null) retry(ctx, run, 0)
      return
    default:
      followFailure(ctx, agent, run, ending, facts)
  }
}

function followFailure(ctx: Context, agent: AgentRow, run: RunRow, ending: Ending, facts: FactSummary): void {
  if (facts.isDeadSession && run.session_id_before !== null) retry(ctx, run, 0)
  else if (facts.rateLimit) retry(ctx, run, waitOf(ctx, facts.rateLimit.until))
  else countFailure(ctx, agent, run, ending)
}

/** The wait until a provider's moment, which may be past by now; never none at all. */
const waitOf = (ctx: Context, until: string | null) =>
  until === null ? RATE_LIMIT_WAIT_MS : Math.max(Date.parse(until) - Date.parse(ctx.now), BACKOFF_MS)

function countFailure(ctx: Context, agent: AgentRow, run: RunRow, ending: Ending): void {
  const failures = agent.failures + 1
  const error = run.error ?? 'The run failed.'
  const status = agent.status === 'idle' ? 'error' : agent.status
  updateAgent(ctx.db, agent.id, { status, failures, error_reason: error, updated_at: ctx.now })
  if (failures >= FAILURES_UNTIL_PAUSE && agent.status !== 'paused') {
    const message = `${failures} runs in a row failed, the last one with: ${error}`
    holdAgent(ctx, SYSTEM, { ...agent, status }, { reason: 'failures', message })
    return
  }
  // What could not even be started will not do better by itself: somebody has to mend the configuration.
  if (ending.reason === 'not_started' || ending.reason === 'spawn_failed') return
  retry(ctx, run, Math.min(BACKOFF_MS * 2 ** (failures - 1), BACKOFF_CAP_MS))
}

const noteSuccess = (ctx: Context, agent: AgentRow) =>
  updateAgent(ctx.db, agent.id, {
    status: agent.status === 'error' ? 'idle' : agent.status,
    failures: 0,
    error_reason: null,
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
