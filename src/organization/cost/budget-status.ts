import type { RawBuilder } from 'kysely'
import { raw } from '../../platform/database/sql.ts'

export const BUDGET_STATUSES = ['ok', 'warning', 'exceeded'] as const
export type BudgetStatus = (typeof BUDGET_STATUSES)[number]

/** From this share of the budget on, only the most important work is recommended (contract, Limits). */
const WARNING_SHARE = 0.8

/** A monthly budget and the amount spent, in micro-dollars. A budget of 0 is no limit. */
export interface Budget {
  budgetMicros: number
  spentMicros: number
}

/** Returns the status of a budget: a warning from 80 %, exceeded from 100 %. */
export function budgetStatus({ budgetMicros, spentMicros }: Budget): BudgetStatus {
  if (budgetMicros === 0) return 'ok'
  if (spentMicros >= budgetMicros) return 'exceeded'
  return spentMicros >= budgetMicros * WARNING_SHARE ? 'warning' : 'ok'
}

/** The SQL form of `isSpent`, over two SQL expressions in micro-dollars. */
export const isSpentSql = (budgetMicros: RawBuilder<unknown>, spentMicros: RawBuilder<unknown>) =>
  raw<boolean>`${budgetMicros} > 0 and ${spentMicros} >= ${budgetMicros}`

/** Whether a budget is spent. */
export const isSpent = (budgetMicros: number, spentMicros: number) =>
  budgetStatus({ budgetMicros, spentMicros }) === 'exceeded'

/** Returns the remaining amount of a budget, at least 0; null if there is no limit. */
export const remaining = ({ budgetMicros, spentMicros }: Budget): number | null =>
  budgetMicros === 0 ? null : Math.max(0, budgetMicros - spentMicros)
