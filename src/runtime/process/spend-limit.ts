import type { Fact } from '../../adapter/adapter.ts'
import { toMicros } from '../../organization/cost/money.ts'

/**
 * What a run may cost by its own account. It is watched here, beside the
 * command and not in the server: the stop comes within a line of output, and
 * also while no server is there.
 */
export interface SpendLimit {
  /** Settles when the limit is reached; otherwise never. */
  reached: Promise<void>
  /** Settles when it spends on after that, though it was asked to stop. */
  exceeded: Promise<void>
  note(facts: readonly Fact[]): void
}

/**
 * @param budgetMicros null for no limit
 * @param readAgain what the limit is by now; asked only when the known one is reached
 */
export function createSpendLimit(budgetMicros: number | null, readAgain: () => number | null): SpendLimit {
  const reached = Promise.withResolvers<void>()
  const exceeded = Promise.withResolvers<void>()
  const byModel = new Map<string, number>()
  let highest = 0
  let limit = budgetMicros ?? Number.POSITIVE_INFINITY
  let isOver = false
  return {
    reached: reached.promise,
    exceeded: exceeded.promise,
    note(facts) {
      for (const fact of facts) {
        if (fact.kind !== 'usage' || fact.costUsd === null) continue
        byModel.set(`${fact.provider} ${fact.model}`, toMicros(fact.costUsd * 100))
        const spent = [...byModel.values()].reduce((sum, micros) => sum + micros, 0)
        if (isOver && spent > highest) exceeded.resolve()
        highest = Math.max(highest, spent)
        if (isOver || spent < limit) continue
        limit = readAgain() ?? Number.POSITIVE_INFINITY
        isOver = spent >= limit
        if (isOver) reached.resolve()
      }
    },
  }
}
