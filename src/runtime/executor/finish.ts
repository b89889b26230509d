import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { warnOfUnpriced } from '../../organization/budget/warn.ts'
import { findFreeze } from '../../organization/instance/queries.ts'
import {
  costsOfRuns,
  findRun,
  hasChangedSomething,
  identifierOfIssue,
  updateRun,
} from '../../organization/run/queries.ts'
import type { RunRow, RunStatus } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import type { Ending } from '../process/ending.ts'
import { findIsolatingWorkspace, findWorktree } from '../worktree/queries.ts'
import { SETUP_FAILED } from '../worktree/worktrees.ts'
import type { FactSummary } from './facts.ts'
import { applyFailurePolicy } from './failure-policy.ts'
import { storeSession } from './session.ts'
import { requeueUntouched } from './untouched-reasons.ts'

/**
 * Records the end of a run, exactly once: the outcome, the session for the next
 * run, and the consequences of a failure. The run token is invalid from this
 * transaction on. A run that has already ended is not changed.
 */
export function finishRun(ctx: Context, runId: string, ending: Ending, facts: FactSummary): RunRow | undefined {
  const run = findRun(ctx.db, { id: runId })
  if (!run || run.finished_at !== null) return run
  const { status, code, message } = verdict(ctx, run, ending, facts)
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
    idle: isIdle(ctx, run),
    finished_at: endOf(ctx, run, ending),
  })
  storeSession(ctx, ended, facts)
  recordActivity(ctx, SYSTEM, {
    companyId: run.company_id,
    action: 'run.finished',
    entity: { type: 'run', id: run.id },
    agentId: run.agent_id,
    runId: run.id,
    details: {
      status,
      errorCode: code,
      issueId: run.issue_id,
      identifier: identifierOfIssue(ctx.db, run.issue_id),
    },
  })
  applyFailurePolicy(ctx, ended, ending, facts)
  requeueUntouched(ctx, ended)
  const unpriced = costsOfRuns(ctx.db, [run.id]).get(run.id)?.unpriced ?? 0
  warnOfUnpriced(ctx, { companyId: run.company_id, agentId: run.agent_id }, unpriced)
  ctx.afterCommit(() => ctx.signals.wakeQueued())
  return ended
}

/** Returns the end time that the shim recorded, or the current time if that time is impossible (the clock was set). */
function endOf(ctx: Context, run: RunRow, { at }: Ending): string {
  const isPossible = at !== null && at < ctx.now && at >= (run.started_at ?? run.created_at)
  return isPossible ? at : ctx.now
}

/**
 * Returns 1 if no activity carries the run's id, which means that the run
 * changed nothing. Returns null if the run never started, and for an `http`
 * agent: it may use its own key, whose activity carries no run id.
 */
function isIdle(ctx: Context, run: RunRow): 0 | 1 | null {
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
  closed: 'Stopped because its issue was closed.',
  paused: 'Stopped because its agent was paused.',
  terminated: 'Stopped because its agent was terminated.',
  budget: 'Stopped because its budget was spent.',
  shutdown: 'Stopped because the server stopped. The run is retried at the next start.',
  stopped: 'Stopped because its company was stopped.',
}

function stoppedBecause(ctx: Context, reason: NonNullable<RunRow['stop_reason']>): string {
  const freeze = reason === 'stopped' ? findFreeze(ctx.db) : undefined
  if (!freeze) return STOPPED[reason]
  return `Stopped because all runs were frozen${freeze.reason ? `: ${freeze.reason}` : '.'}`
}

const SUCCEEDED: Verdict = { status: 'succeeded', code: null, message: null }

/** The endings of a program that did not exit by itself. After a successful result they are no failure: the work is done. */
const ENDED_LATE: ReadonlySet<Ending['reason']> = new Set(['after_result', 'timed_out', 'silent', 'lost'])

/**
 * Decides a run's final status. The first cause wins: a run that the server was
 * stopping is cancelled, whatever exit code its program returns.
 */
function verdict(ctx: Context, run: RunRow, ending: Ending, facts: FactSummary): Verdict {
  // The program had reported its result before the budget stopped it.
  const isForBudget =
    (run.stop_reason ?? ending.reason) === 'budget' || (!run.stop_reason && ending.reason === 'over_budget')
  if (isForBudget && facts.outcome?.ok) return SUCCEEDED
  if (facts.outcome?.ok && !run.stop_reason && ENDED_LATE.has(ending.reason)) return SUCCEEDED
  if (run.stop_reason)
    return { status: 'cancelled', code: run.stop_reason, message: stoppedBecause(ctx, run.stop_reason) }
  switch (ending.reason) {
    case 'timed_out':
    case 'silent':
      return { status: 'timed_out', code: ending.reason, message: `${TOO_LONG[ending.reason]}${duringSetUp(ctx, run)}` }
    case 'over_budget':
      return { status: 'cancelled', code: 'budget', message: STOPPED.budget }
    case 'never_started':
      return {
        status: 'lost',
        code: 'never_started',
        message: 'The server ended before the run started. The run is retried.',
      }
    case 'lost':
      return {
        status: 'lost',
        code: 'lost',
        message: ending.error?.message ?? 'The process of the run is gone and left no exit code.',
      }
    case 'stopped':
      return { status: 'cancelled', code: 'stopped', message: 'A signal from outside the server stopped the run.' }
    case 'spawn_failed':
    case 'not_started':
      return { status: 'failed', code: ending.error?.code ?? ending.reason, message: ending.error?.message ?? null }
    case 'exited':
    case 'after_result':
      return exited(run, ending, facts)
  }
}

const TOO_LONG = {
  timed_out: 'The run exceeded its time limit (timeoutSec).',
  silent: 'The run wrote no output for longer than its silence limit (silenceSec).',
}

/** Returns a sentence on the set-up command of the workspace if it was a part of the run. */
function duringSetUp(ctx: Context, run: RunRow): string {
  if (run.git_head === null || run.issue_id === null) return ''
  const issue = { issueId: run.issue_id }
  const isToSetUp = findWorktree(ctx.db, issue)?.is_set_up === 0
  return isToSetUp && findIsolatingWorkspace(ctx.db, issue)?.setup_command
    ? ' The set-up command of the workspace was a part of it; the log shows how far it got.'
    : ''
}

function exited(run: RunRow, ending: Ending, facts: FactSummary): Verdict {
  const needsResult = adapterOf(run.adapter_type)?.endsWithResult === true
  if (ending.exitCode === 0 && facts.outcome === null && needsResult) {
    const message = withCause('The program exited with code 0 without a result.', ending)
    return { status: 'failed', code: 'no_result', message }
  }
  const isExpected = ending.exitCode === 0 || ending.exitCode === facts.outcome?.exitCode
  if (isExpected && facts.outcome?.ok !== false) return SUCCEEDED
  if (run.git_head !== null && ending.exitCode === SETUP_FAILED && facts.outcome === null) {
    const message = withCause('The set-up command of the workspace failed.', ending)
    return { status: 'failed', code: 'setup_failed', message }
  }
  const how = ending.signal
    ? `The program was ended by ${ending.signal}.`
    : `The program exited with code ${ending.exitCode}.`
  return {
    status: 'failed',
    code: facts.outcome?.code ?? 'exit_code',
    message: facts.outcome?.message ?? withCause(how, ending),
  }
}

/** Adds the last line of standard error, which usually names the cause. */
const withCause = (how: string, { lastError }: Ending) =>
  lastError == null ? how : `${how.replace(/\.$/, '')}: ${lastError}`
