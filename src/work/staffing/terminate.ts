import { recordActivity } from '../../access/activity/record.ts'
import { type Caller, SYSTEM } from '../../access/caller/caller.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { endAgent } from '../../organization/agent/end.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import type { Context } from '../../platform/context.ts'
import { cancelOpenHire } from '../approval/queries.ts'
import { releaseIssuesOfAgent } from '../issue/release.ts'

/**
 * Terminates an agent permanently: releases its issues, cancels the open
 * approval of its hire, and wakes its manager with the most urgent of the
 * released issues. Terminating it again is a no-op.
 */
export function terminateAgent(ctx: Context, caller: Caller, agent: AgentRow): void {
  if (agent.status === 'terminated') return
  const activityId = endAgent(ctx, caller, agent)
  const issueIds = releaseIssuesOfAgent(ctx, caller, agent)
  const approval = cancelOpenHire(ctx.db, { agentId: agent.id, at: ctx.now })
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
