import { SYSTEM } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { pauseAgent } from '../../organization/agent/pause.ts'
import { hasChangedWithKey, listLatestOnIssue } from '../../organization/run/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { findIssueBrief } from './prepare-queries.ts'

/**
 * Pauses an agent whose last `loopRuns` runs on one issue succeeded and changed
 * nothing. Something wakes the agent repeatedly, and every run costs money.
 */
export function pauseUnchangedLoop(ctx: Context, agent: AgentRow, run: RunRow): void {
  const limit = ctx.config.loopRuns
  if (limit === 0 || run.issue_id === null || run.idle === 0 || agent.status === 'paused') return
  const since = agent.resumed_at ?? ''
  const latest = listLatestOnIssue(ctx.db, { agentId: agent.id, issueId: run.issue_id, since, limit })
  if (latest.length < limit || latest.some((one) => one.idle === 0 || one.status !== 'succeeded')) return
  // An agent may also make changes with its own key, outside the run.
  const first = latest.at(-1)!.created_at
  if (hasChangedWithKey(ctx.db, { companyId: agent.company_id, agentId: agent.id, since: first })) return
  const issue = findIssueBrief(ctx.db, run.issue_id)
  const message = `${limit} runs in a row on ${issue?.identifier ?? 'one issue'} changed nothing, which indicates a loop. Find what wakes the agent, then resume it.`
  pauseAgent(ctx, SYSTEM, agent, { reason: 'loop', message })
}
