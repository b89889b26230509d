import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import { recordHeartbeat } from '../../organization/agent/timer.ts'
import { enforceBudgets } from '../../organization/budget/enforce.ts'
import { choosePlacement } from '../../organization/placement/resolve.ts'
import { findNthLatestOnIssue, identifierOfIssue, insertRun, listUsedSlots } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import { claimWake, delayWake } from '../../organization/wake/queries.ts'
import type { WakeReason, WakeRow } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { holdIfProgramMissing } from '../executor/missing-program.ts'
import { deleteSession } from '../executor/session.ts'
import { findStartableWake, listStartableWakes } from './start-conditions.ts'

/**
 * Claims the waiting wakes that no start condition blocks, and inserts a run in
 * the status `starting` for each, in the current transaction.
 */
export function claimRuns(ctx: Context): RunRow[] {
  const claimed: RunRow[] = []
  for (let listed = listStartableWakes(ctx); listed.length > 0; listed = listStartableWakes(ctx)) {
    for (const { id } of listed) {
      // The runs that started since the list was read may block this one.
      const wake = findStartableWake(ctx, id)
      const run = wake && startUnlessHeld(ctx, wake)
      if (run) claimed.push(run)
    }
  }
  return claimed
}

/** Starts the run of a wake, or makes a condition block the wake. */
function startUnlessHeld(ctx: Context, wake: WakeRow): RunRow | undefined {
  // A spent budget pauses its agent or company, which blocks the wake.
  if (enforceBudgets(ctx, { companyId: wake.company_id, agentId: wake.agent_id })) return undefined
  if (delayForIssueLimit(ctx, wake)) return undefined
  const placement = choosePlacement(ctx, { agentId: wake.agent_id, issueId: wake.issue_id })
  // The machines of a placement have programs of their own.
  if (!placement && holdIfProgramMissing(ctx, findAgent(ctx.db, { id: wake.agent_id })!, wake.issue_id))
    return undefined
  return startRun(ctx, wake, placement)
}

const HOUR_MS = 60 * 60_000

/**
 * Delays a wake whose issue had as many runs within an hour as
 * `issueRunsPerHour` allows, until the first of them is an hour ago.
 *
 * @returns whether the wake is delayed
 */
function delayForIssueLimit(ctx: Context, wake: WakeRow): boolean {
  const limit = ctx.config.issueRunsPerHour
  if (limit === 0 || wake.issue_id === null) return false
  const first = findNthLatestOnIssue(ctx.db, { issueId: wake.issue_id, later: limit - 1 })
  if (!first) return false
  const until = new Date(Date.parse(first.created_at) + HOUR_MS).toISOString()
  if (until <= ctx.now) return false
  delayWake(ctx.db, { id: wake.id, until })
  recordActivity(ctx, SYSTEM, {
    companyId: wake.company_id,
    action: 'issue.runs_limited',
    entity: { type: 'issue', id: wake.issue_id },
    agentId: wake.agent_id,
    details: { runsInAnHour: limit, waitsUntil: until },
  })
  return true
}

function startRun(ctx: Context, wake: WakeRow, placement: string | null): RunRow {
  const agent = findAgent(ctx.db, { id: wake.agent_id })!
  const reasons = JSON.parse(wake.reasons) as WakeReason[]
  const run = insertRun(ctx.db, {
    id: uuid(),
    company_id: wake.company_id,
    agent_id: agent.id,
    wake_id: wake.id,
    status: 'starting',
    slot: freeSlot(ctx, agent.id),
    source: reasons[0]!.source,
    reasons: wake.reasons,
    issue_id: wake.issue_id,
    adapter_type: agent.adapter_type,
    placement,
    retry_of_run_id: wake.retry_of_run_id,
    depth: wake.depth,
    created_at: ctx.now,
  })
  if (wake.fresh_session === 1) deleteSession(ctx.db, run)
  claimWake(ctx.db, { id: wake.id, at: ctx.now })
  recordHeartbeat(ctx.db, { agentId: agent.id, at: ctx.now })
  recordActivity(ctx, SYSTEM, {
    companyId: run.company_id,
    action: 'run.started',
    entity: { type: 'run', id: run.id },
    agentId: agent.id,
    runId: run.id,
    details: { source: run.source, issueId: run.issue_id, identifier: identifierOfIssue(ctx.db, run.issue_id) },
  })
  return run
}

/** Returns the agent's lowest slot that no live run uses. */
function freeSlot(ctx: Context, agentId: string): number {
  const taken = new Set(listUsedSlots(ctx.db, { agentId }))
  let slot = 0
  while (taken.has(slot)) slot++
  return slot
}
