import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { warnOfUnpriced } from '../../organization/budget/warn.ts'
import { costsOfRuns, findRun, hasChangedSomething, updateRun } from '../../organization/run/queries.ts'
import type { RunRow, RunStatus } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Ending } from '../process/ending.ts'
import { SETUP_FAILED } from '../worktree/worktrees.ts'
import type { FactSummary } from './facts.ts'
import { applyFailurePolicy } from './failure-policy.ts'
import { keepSession } from './session.ts'

/**
 * Ends a run, once: its token dies in this transaction, its session is kept,
 * and what must follow a failure follows. A run that has ended stays as it is.
 */
export function finishRun(ctx: Context, runId: string, ending: Ending, facts: FactSummary): RunRow | undefined {
  const run = findRun(ctx.db, { id: runId })
  if (!run || run.finished_at !== null) return run
  const { status, code, message } = verdict(run, ending, facts)
  const ended = updateRun(ctx.db, run.id, {
    status,
    stop_reason: run.stop_reason ?? (ending.reason === 'over_budget' ? 'budget' : null),
    exit_code: ending.exitCode,
    signal: ending.signal,
    error: message,
    error_code: code,
    summary: facts.text,
    retrying: null,
    refused_tools: facts.refusedTools,
    session_id_after: facts.sessionId ?? run.session_id_after,
    idle: idleness(ctx, run),
    finished_at: endOf(ctx, run, ending),
  })
  keepSession(ctx, ended, facts)
  recordActivity(ctx, SYSTEM, {
    companyId: run.company_id,
    action: 'run.finished',
    entity: { type: 'run', id: run.id },
    agentId: run.agent_id,
    runId: run.id,
    details: { status, errorCode: code, issueId: run.issue_id },
  })
  applyFailurePolicy(ctx, ended, ending, facts)
  const unpriced = costsOfRuns(ctx.db, [run.id]).get(run.id)?.unpriced ?? 0
  warnOfUnpriced(ctx, { companyId: run.company_id, agentId: run.agent_id }, unpriced)
  ctx.afterCommit(() => ctx.signals.wakeQueued())
  return ended
}

/** When the run ended, as its shim wrote it down, unless the clock was set meanwhile and it cannot be. */
function endOf(ctx: Context, run: RunRow, { at }: Ending): string {
  const isPossible = at !== null && at < ctx.now && at >= (run.started_at ?? run.created_at)
  return isPossible ? at : ctx.now
}

/**
 * Whether a run changed nothing, by the activity that carries its id. Null if
 * the run never started, and for an `http` agent: it works with a key of its
 * own, whose activity carries no run.
 */
function idleness(ctx: Context, run: RunRow): 0 | 1 | null {
  if (run.started_at === null || run.adapter_type === 'http') return null
  return hasChangedSomething(ctx.db, { runId: run.id }) ? 0 : 1
}

interface Verdict {
  status: Exclude<RunStatus, 'starting' | 'running'>
  code: string | null
  message: string | null
}

const STOPPED: Record<NonNullable<RunRow['stop_reason']>, string> = {
  cancelled: 'Cancelled.',
  paused: 'Stopped because its agent was paused.',
  terminated: 'Stopped because its agent was terminated.',
  budget: 'Stopped because its budget was spent.',
  shutdown: 'Stopped with the server; it is run again at the next start.',
  stopped: 'Stopped with everything else of its company.',
}

const SUCCEEDED: Verdict = { status: 'succeeded', code: null, message: null }

/** What ends a program that did not exit by itself. After a good result it does not matter: the work is done. */
const ENDED_LATE: ReadonlySet<Ending['reason']> = new Set(['after_result', 'timed_out', 'silent', 'lost'])

/** The first cause of an ending wins: a run that was being stopped was stopped, whatever its program says. */
function verdict(run: RunRow, ending: Ending, facts: FactSummary): Verdict {
  // What had said its last word before the budget stopped it is done.
  const isForBudget =
    (run.stop_reason ?? ending.reason) === 'budget' || (!run.stop_reason && ending.reason === 'over_budget')
  if (isForBudget && facts.outcome?.ok) return SUCCEEDED
  if (facts.outcome?.ok && !run.stop_reason && ENDED_LATE.has(ending.reason)) return SUCCEEDED
  if (run.stop_reason) return { status: 'cancelled', code: run.stop_reason, message: STOPPED[run.stop_reason] }
  switch (ending.reason) {
    case 'timed_out':
      return { status: 'timed_out', code: 'timed_out', message: 'It ran longer than its time limit (timeoutSec).' }
    case 'silent':
      return {
        status: 'timed_out',
        code: 'silent',
        message: 'It wrote nothing for longer than its silence limit (silenceSec).',
      }
    case 'over_budget':
      return { status: 'cancelled', code: 'budget', message: STOPPED.budget }
    case 'never_started':
      return {
        status: 'lost',
        code: 'never_started',
        message: 'The server ended before it had begun; it is run again.',
      }
    case 'lost':
      return { status: 'lost', code: 'lost', message: 'Its process is gone, and nothing tells how it ended.' }
    case 'stopped':
      return { status: 'cancelled', code: 'stopped', message: 'Its process was told to stop from outside the server.' }
    case 'spawn_failed':
    case 'not_started':
      return { status: 'failed', code: ending.error?.code ?? ending.reason, message: ending.error?.message ?? null }
    case 'exited':
    case 'after_result':
      return exited(run, ending, facts)
  }
}

function exited(run: RunRow, ending: Ending, facts: FactSummary): Verdict {
  const needsResult = adapterOf(run.adapter_type)?.endsWithResult === true
  if (ending.exitCode === 0 && facts.outcome === null && needsResult) {
    const message = withCause('It exited with code 0 without a result.', ending)
    return { status: 'failed', code: 'no_result', message }
  }
  if (ending.exitCode === 0 && facts.outcome?.ok !== false) return SUCCEEDED
  if (run.git_head !== null && ending.exitCode === SETUP_FAILED && facts.outcome === null) {
    const message = withCause('The set-up command of the workspace failed.', ending)
    return { status: 'failed', code: 'setup_failed', message }
  }
  const how = ending.signal ? `It was ended by ${ending.signal}.` : `It exited with code ${ending.exitCode}.`
  return {
    status: 'failed',
    code: facts.outcome?.code ?? 'exit_code',
    message: facts.outcome?.message ?? withCause(how, ending),
  }
}

/** The last line on standard error mostly names the cause. */
const withCause = (how: string, { lastError }: Ending) =>
  lastError == null ? how : `${how.replace(/\.$/, '')}: ${lastError}`
