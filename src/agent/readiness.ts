import type { Context } from '../context.ts'
import { monthOf, toCents } from '../cost/money.ts'
import { prepared, sql } from '../database/sql.ts'
import { AppError } from '../errors.ts'
import type { AgentRow } from './agent.ts'

/** Refuses an agent that cannot take up work: paused, not yet approved, terminated, or with nothing left to spend. */
export function refuseUnready(ctx: Context, agent: AgentRow): void {
  const why = NOT_READY[agent.status]
  if (why !== undefined) {
    throw new AppError('agent_not_ready', `${agent.name} ${why}.`, { agentId: agent.id, status: agent.status })
  }
  if (agent.budget_micros === 0) return
  const spent = ctx.db.first(spentInMonth({ companyId: agent.company_id, agentId: agent.id, period: monthOf(ctx.now) }))
  if (!spent || spent.cost_micros < agent.budget_micros) return
  throw new AppError(
    'budget_exceeded',
    `${agent.name} has spent its budget of this month. Ask the board to raise it.`,
    {
      agentId: agent.id,
      budgetMonthlyCents: toCents(agent.budget_micros),
      spentMonthlyCents: toCents(spent.cost_micros),
    },
  )
}

const NOT_READY: Partial<Record<AgentRow['status'], string>> = {
  paused: 'is paused; the board can resume it',
  pending_approval: 'waits for the approval of the board',
  terminated: 'is terminated',
}

const spentInMonth = prepared((of: { companyId: string; agentId: string; period: string }) =>
  sql
    .selectFrom('cost_total')
    .select('cost_micros')
    .where('company_id', '=', of.companyId)
    .where('kind', '=', 'agent')
    .where('period', '=', of.period)
    .where('key', '=', of.agentId),
)
