import type { Context } from '../../platform/context.ts'
import { sql } from '../../platform/database/sql.ts'
import { resumeFromBudget } from '../agent/budget.ts'
import { resumeCompanyFromBudget } from '../company/pause.ts'

const spentAgents = sql
  .selectFrom('agent')
  .innerJoin('company', 'company.id', 'agent.company_id')
  .select('agent.id')
  .where('agent.pause_reason', '=', 'budget')
  .where('agent.status', '=', 'paused')
  .where('company.status', '<>', 'archived')
  .compile()

const spentCompanies = sql.selectFrom('company').select('id').where('pause_reason', '=', 'budget').compile()

/** Those that stand still because their month's budget is spent. */
const listSpent = (ctx: Context) => ({ agents: ctx.db.all(spentAgents), companies: ctx.db.all(spentCompanies) })

/** Lets those work again whose budget a new month has filled, in the caller's transaction. */
export function resumeForNewMonth(ctx: Context): void {
  const { agents, companies } = listSpent(ctx)
  for (const { id } of companies) resumeCompanyFromBudget(ctx, id)
  for (const { id } of agents) resumeFromBudget(ctx, id)
}

/** When the next month begins, if somebody waits for it. */
export function nextMonth(ctx: Context): string | undefined {
  const { agents, companies } = listSpent(ctx)
  if (agents.length + companies.length === 0) return undefined
  const now = new Date(ctx.now)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
}
