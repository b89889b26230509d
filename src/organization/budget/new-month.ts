import type { Context } from '../../platform/context.ts'
import { sql } from '../../platform/database/sql.ts'
import { resumeFromBudget } from '../agent/pause-for-budget.ts'
import { resumeCompanyFromBudget } from '../company/pause.ts'

const pausedAgents = sql
  .selectFrom('agent')
  .innerJoin('company', 'company.id', 'agent.company_id')
  .select('agent.id')
  .where('agent.pause_reason', '=', 'budget')
  .where('agent.status', '=', 'paused')
  .where('company.status', '<>', 'archived')
  .compile()

const pausedCompanies = sql.selectFrom('company').select('id').where('pause_reason', '=', 'budget').compile()

/** Lists the agents and companies that are paused because the budget of the month is spent. */
const listPaused = (ctx: Context) => ({ agents: ctx.db.all(pausedAgents), companies: ctx.db.all(pausedCompanies) })

/** Resumes the agents and companies whose budget allows it again, in the current transaction. */
export function resumeForNewMonth(ctx: Context): void {
  const { agents, companies } = listPaused(ctx)
  for (const { id } of companies) resumeCompanyFromBudget(ctx, id)
  for (const { id } of agents) resumeFromBudget(ctx, id)
}

/** Returns when the next month begins, or undefined if no agent or company is paused for its budget. */
export function nextMonth(ctx: Context): string | undefined {
  const { agents, companies } = listPaused(ctx)
  if (agents.length + companies.length === 0) return undefined
  const now = new Date(ctx.now)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
}
