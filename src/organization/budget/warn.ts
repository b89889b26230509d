import { recordActivity } from '../../access/activity/record.ts'
import { SYSTEM } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { type Budget, budgetStatus } from '../cost/budget-status.ts'
import { toCents } from '../cost/money.ts'
import { agentUnpriced } from '../cost/queries.ts'
import { budgetsOf, leftToSpend, type Spender } from './enforce.ts'

/** Records an activity if a cost raised the spend of an agent or of its company past 80 % of the budget. */
export function warnOfBudgets(ctx: Context, spender: Spender, addedMicros: number): void {
  const { agent, company } = budgetsOf(ctx, spender)
  if (crossesWarning(agent, addedMicros)) {
    recordWarning(ctx, spender.companyId, { type: 'agent', id: spender.agentId }, agent)
  }
  if (crossesWarning(company, addedMicros)) {
    recordWarning(ctx, spender.companyId, { type: 'company', id: spender.companyId }, company)
  }
}

/**
 * Records an activity, once a month for each agent, if a budget cannot stop the
 * agent because the price of its runs is unknown.
 *
 * @param unpriced the number of costs without a price that the finished run recorded
 */
export function warnOfUnpriced(ctx: Context, spender: Spender, unpriced: number): void {
  const isFirst = unpriced > 0 && agentUnpriced(ctx.db, { ...spender, now: ctx.now }) === unpriced
  if (!isFirst || leftToSpend(ctx, spender) === null) return
  recordActivity(ctx, SYSTEM, {
    companyId: spender.companyId,
    action: 'agent.costs_unpriced',
    entity: { type: 'agent', id: spender.agentId },
    agentId: spender.agentId,
    details: {
      message:
        'The price of its runs is unknown, so its budget cannot stop it. Set adapterConfig.model to a model with a known price, or report the costs.',
    },
  })
}

const crossesWarning = ({ budgetMicros, spentMicros }: Budget, addedMicros: number) =>
  budgetStatus({ budgetMicros, spentMicros }) !== 'ok' &&
  budgetStatus({ budgetMicros, spentMicros: spentMicros - addedMicros }) === 'ok'

const recordWarning = (
  ctx: Context,
  companyId: string,
  entity: { type: 'agent' | 'company'; id: string },
  { budgetMicros, spentMicros }: Budget,
) =>
  recordActivity(ctx, SYSTEM, {
    companyId,
    action: `${entity.type}.budget_warning`,
    entity,
    agentId: entity.type === 'agent' ? entity.id : null,
    details: { budgetMonthlyCents: toCents(budgetMicros), spentMonthlyCents: toCents(spentMicros) },
  })
