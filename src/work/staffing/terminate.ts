import { recordActivity } from '../../access/activity/record.ts'
import { actorOf, type Caller, SYSTEM } from '../../access/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { moveAgent } from '../../organization/agent/change.ts'
import { revokeAllKeys } from '../../organization/agent/key-queries.ts'
import { requireNext } from '../../organization/agent/lifecycle.ts'
import { listSubordinates, updateAgent } from '../../organization/agent/queries.ts'
import { requestStops } from '../../organization/run/stop.ts'
import { dropWaitingWakes } from '../../organization/wake/queries.ts'
import { requestWake } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import { cancelHireApproval, giveBackIssues } from './leaving-queries.ts'

/**
 * Terminates an agent for good and wakes its manager with the first of the
 * issues that it leaves behind. Terminating it again changes nothing.
 */
export function terminateAgent(ctx: Context, caller: Caller, agent: AgentRow): void {
  if (agent.status === 'terminated') return
  const { issueIds, activityId } = endAgent(ctx, caller, agent)
  const approval = cancelHireApproval(ctx.db, { agentId: agent.id, at: ctx.now })
  if (approval) {
    recordActivity(ctx, caller, {
      companyId: agent.company_id,
      action: 'approval.cancelled',
      entity: { type: 'approval', id: approval.id },
      agentId: agent.id,
      details: { because: 'agent.terminated' },
    })
  }
  if (agent.reports_to) {
    requestWake(ctx, SYSTEM, {
      agentId: agent.reports_to,
      source: 'on_demand',
      issueId: issueIds[0] ?? null,
      cause: { activityId },
    })
  }
}

/**
 * Ends an agent: its keys are revoked, its wakes dropped, its live runs
 * stopped, its open issues given back, and its subordinates move up to its own
 * manager, so that nobody's chain of command runs through it.
 *
 * @returns the ids of the issues given back, the most urgent first, and the activity that tells of the end
 */
export function endAgent(ctx: Context, caller: Caller, agent: AgentRow): { issueIds: string[]; activityId: string } {
  requireNext(agent, 'terminated')
  updateAgent(ctx.db, agent.id, {
    status: 'terminated',
    pause_reason: null,
    pause_message: null,
    paused_at: null,
    timer_due_at: null,
    updated_at: ctx.now,
  })
  revokeAllKeys(ctx.db, { agentId: agent.id, at: ctx.now })
  dropWaitingWakes(ctx.db, { agentId: agent.id, reason: 'terminated', at: ctx.now })
  const activityId = recordActivity(ctx, caller, {
    companyId: agent.company_id,
    action: 'agent.terminated',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, from: agent.status },
  })
  requestStops(ctx, { agentId: agent.id }, 'terminated')
  for (const subordinate of listSubordinates(ctx.db, { agentId: agent.id })) {
    moveAgent(ctx, caller, subordinate, agent.reports_to)
  }
  return { issueIds: releaseIssues(ctx, caller, agent), activityId }
}

function releaseIssues(ctx: Context, caller: Caller, agent: AgentRow): string[] {
  const issues = giveBackIssues(ctx.db, { agentId: agent.id, by: actorOf(caller), at: ctx.now })
  for (const issue of issues) {
    recordActivity(ctx, caller, {
      companyId: agent.company_id,
      action: 'issue.released',
      entity: { type: 'issue', id: issue.id },
      agentId: agent.id,
      details: { identifier: issue.identifier, from: issue.from, to: issue.to, because: 'agent.terminated' },
    })
  }
  return issues.map((issue) => issue.id)
}
