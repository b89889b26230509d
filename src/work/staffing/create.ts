import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { AgentRow, NewAgent } from '../../organization/agent/agent.ts'
import { addAgent } from '../../organization/agent/create.ts'
import type { Context } from '../../platform/context.ts'
import { sourceIssueIds } from './source-issues.ts'

/** Creates an agent that may work at once. */
export function createAgent(ctx: Context, caller: Caller, companyId: string, want: NewAgent): AgentRow {
  const issueIds = sourceIssueIds(ctx, companyId, want)
  const agent = addAgent(ctx, caller, companyId, want, { status: 'idle', source: 'create' })
  recordActivity(ctx, caller, {
    companyId,
    action: 'agent.created',
    entity: { type: 'agent', id: agent.id },
    agentId: agent.id,
    details: { name: agent.name, role: agent.role, adapterType: agent.adapter_type, sourceIssueIds: issueIds },
  })
  return agent
}
