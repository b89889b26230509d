import type { Fact } from '../../adapter/adapter.ts'
import { toMicros } from '../../organization/cost/money.ts'

/**
 * Watches the cost that a run reports against its budget. It works in the shim
 * and not in the server, so it stops the run within a line of output, and also
 * while the server is down.
 */
export interface SpendLimit {
  /** Resolves when the budget is reached. Otherwise it remains pending. */
  reached: Promise<void>
  /** Resolves when the cost grows further after the request to stop. */
  exceeded: Promise<void>
  noteFacts(facts: readonly Fact[]): void
}

/**
 * Creates the watch of a run's cost.
 *
 * @param budgetMicros the budget in micro-dollars; null for no limit
 * @param readCurrent returns the current budget; called only when the known one is reached
 */
export function createSpendLimit(budgetMicros: number | null, readCurrent: () => number | null): SpendLimit {
  const reached = Promise.withResolvers<void>()
  const exceeded = Promise.withResolvers<void>()
  const byModel = new Map<string, number>()
  let highest = 0
  let limit = budgetMicros ?? Number.POSITIVE_INFINITY
  let isOver = false
  return {
    reached: reached.promise,
    exceeded: exceeded.promise,
    noteFacts(facts) {
      for (const fact of facts) {
        if (fact.kind !== 'usage' || fact.costUsd === null) continue
        byModel.set(`${fact.provider} ${fact.model}`, toMicros(fact.costUsd * 100))
        const spent = [...byModel.values()].reduce((sum, micros) => sum + micros, 0)
        if (isOver && spent > highest) exceeded.resolve()
        highest = Math.max(highest, spent)
        if (isOver || spent < limit) continue
        limit = readCurrent() ?? Number.POSITIVE_INFINITY
        isOver = spent >= limit
        if (isOver) reached.resolve()
      }
    },
  }
}
