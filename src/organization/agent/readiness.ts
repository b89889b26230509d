import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { isSpent } from '../cost/budget.ts'
import { toCents } from '../cost/money.ts'
import { agentSpend } from '../cost/queries.ts'
import type { AgentRow } from './agent.ts'

/** Refuses an agent that cannot take up work: paused, not yet approved, terminated, or with nothing left to spend. */
export function assertAgentReady(ctx: Context, agent: AgentRow): void {
  const why = NOT_READY[agent.status]
  if (why !== undefined) {
    throw new AppError('agent_not_ready', `${agent.name} ${why}.`, { agentId: agent.id, status: agent.status })
  }
  const spent = agentSpend(ctx.db, { companyId: agent.company_id, agentId: agent.id, now: ctx.now })
  if (!isSpent(agent.budget_micros, spent)) return
  throw new AppError(
    'budget_exceeded',
    `${agent.name} has spent its budget of this month. Ask the board to raise it.`,
    {
      agentId: agent.id,
      budgetMonthlyCents: toCents(agent.budget_micros),
      spentMonthlyCents: toCents(spent),
    },
  )
}

const NOT_READY: Partial<Record<AgentRow['status'], string>> = {
  paused: 'is paused; the board can resume it',
  pending_approval: 'waits for the approval of the board',
  terminated: 'is terminated',
}
