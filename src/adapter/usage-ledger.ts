import type { Fact, UsageTotals } from './adapter.ts'
import { estimateCost } from './prices.ts'
import { plus, toMicros } from './usage.ts'

/** The usage of one message of a model. `costUsd` is 0 or null if the program does not report the cost. */
export interface MessageUsage extends UsageTotals {
  provider: string
  model: string
}

/** The usage of a run by message. It serves for programs that record each message with an id. */
export interface UsageLedger {
  /** Sets the usage of a message. A message that is repeated is counted once. */
  set(id: string, usage: MessageUsage): void
  has(id: string): boolean
  clear(): void
  /**
   * Returns the usage of each model that has changed since the last call. A model without messages has no usage any
   * more: its messages turned out to belong to another model.
   */
  facts(): Fact[]
}

/**
 * Creates an empty ledger.
 *
 * @param earlier the usage of the run that another ledger reported
 */
export function createUsageLedger(earlier: Iterable<{ provider: string; model: string }> = []): UsageLedger {
  const messages = new Map<string, MessageUsage>()
  const reported = new Map([...earlier].map((usage) => [keyOf(usage), '']))
  let isChanged = false
  return {
    has: (id) => messages.has(id),
    set(id, usage) {
      messages.set(id, usage)
      isChanged = true
    },
    clear() {
      messages.clear()
      isChanged = true
    },
    facts() {
      if (!isChanged) return []
      isChanged = false
      const facts: Fact[] = []
      const sums = new Map<string, MessageUsage>([...reported.keys()].map((key) => [key, emptyUsage(key)]))
      for (const usage of messages.values()) {
        const key = keyOf(usage)
        const sum = sums.get(key)
        sums.set(key, sum ? { ...usage, ...plus(sum, usage) } : usage)
      }
      for (const [key, sum] of sums) {
        const text = JSON.stringify(sum)
        if (reported.get(key) === text) continue
        reported.set(key, text)
        facts.push(toFact(sum))
      }
      return facts
    },
  }
}

const keyOf = ({ provider, model }: { provider: string; model: string }) => JSON.stringify([provider, model])

function emptyUsage(key: string): MessageUsage {
  const [provider, model] = JSON.parse(key)
  return { provider, model, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 }
}

function toFact(sum: MessageUsage): Fact {
  const isReported = sum.costUsd !== null && sum.costUsd > 0
  const costUsd = isReported ? sum.costUsd : estimateCost(sum.model, sum)
  const costStatus = costUsd === null ? 'unpriced' : isReported ? 'reported' : 'estimated'
  return { kind: 'usage', ...sum, costStatus, costUsd: costUsd && toMicros(costUsd) }
}
