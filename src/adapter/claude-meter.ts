import type { UsageTotals } from './adapter.ts'
import { estimateCost } from './prices.ts'
import { asCount, asObject, type Json, sumTokens, tokens } from './usage.ts'

/** Token usage, with the input tokens that were written to a cache. A token cached for an hour counts four times. */
export type Spent = UsageTotals & { cacheWriteTokens: number }

/** Measures the token usage of a run from its streamed messages. A message that is repeated is counted once. */
export interface MessageMeter {
  /** Records the current usage of a message. Returns the models with a changed total. */
  add(id: string, model: string, usage: Json): string[]
  /** Returns the model of a recorded message. */
  modelOf(id: string): string | undefined
  /** Returns the usage of a model at list price, without the given messages. */
  estimate(model: string, except?: Iterable<string>): UsageTotals
  models(): Iterable<string>
  tokens(): number
}

/** The maximum number of messages in memory, used to detect repetitions. A run needs about a day to reach it. */
const MOST_MESSAGES = 20_000

/** Creates an empty meter. */
export function createMessageMeter(): MessageMeter {
  const messages = new Map<string, Spent & { model: string }>()
  const byModel = new Map<string, Spent>()
  return {
    add(id, model, usage) {
      const before = messages.get(id)
      // The start of a message can arrive after its end, so the larger number is used.
      const spent = before ? larger(before, spentOf(usage)) : spentOf(usage)
      if (tokens(spent) === 0 || (before && before.model === model && isSame(before, spent))) return []
      messages.set(id, { ...spent, model })
      if (messages.size > MOST_MESSAGES) messages.delete(messages.keys().next().value!)
      if (before) byModel.set(before.model, addSpent(byModel.get(before.model), before, -1))
      byModel.set(model, addSpent(byModel.get(model), spent, 1))
      return before && before.model !== model ? [before.model, model] : [model]
    },
    modelOf: (id) => messages.get(id)?.model,
    estimate(model, except = []) {
      let spent = byModel.get(model)!
      for (const id of except) {
        const message = messages.get(id)
        if (message?.model === model) spent = addSpent(spent, message, -1)
      }
      const { cacheWriteTokens, ...use } = spent
      return { ...use, costUsd: estimateCost(model, use, cacheWriteTokens) }
    },
    models: () => byModel.keys(),
    tokens: () => sumTokens(byModel.values()),
  }
}

/** The price of a cache write for an hour, relative to one for five minutes. */
const HOUR_WEIGHT = 4

/** Parses the `usage` of a message or a result. */
export function spentOf(usage: Json): Spent {
  const written = asCount(usage.cache_creation_input_tokens)
  const forAnHour = Math.min(written, asCount(asObject(usage.cache_creation).ephemeral_1h_input_tokens))
  return {
    inputTokens: asCount(usage.input_tokens) + written,
    cachedInputTokens: asCount(usage.cache_read_input_tokens),
    outputTokens: asCount(usage.output_tokens),
    cacheWriteTokens: written + forAnHour * (HOUR_WEIGHT - 1),
    costUsd: null,
  }
}

const larger = (a: Spent, b: Spent): Spent => ({
  inputTokens: Math.max(a.inputTokens, b.inputTokens),
  cachedInputTokens: Math.max(a.cachedInputTokens, b.cachedInputTokens),
  outputTokens: Math.max(a.outputTokens, b.outputTokens),
  cacheWriteTokens: Math.max(a.cacheWriteTokens, b.cacheWriteTokens),
  costUsd: null,
})

const addSpent = (sum: Spent | undefined, spent: Spent, sign: 1 | -1): Spent => ({
  inputTokens: (sum?.inputTokens ?? 0) + sign * spent.inputTokens,
  cachedInputTokens: (sum?.cachedInputTokens ?? 0) + sign * spent.cachedInputTokens,
  outputTokens: (sum?.outputTokens ?? 0) + sign * spent.outputTokens,
  cacheWriteTokens: (sum?.cacheWriteTokens ?? 0) + sign * spent.cacheWriteTokens,
  costUsd: null,
})

const isSame = (a: Spent, b: Spent): boolean =>
  a.inputTokens === b.inputTokens &&
  a.cachedInputTokens === b.cachedInputTokens &&
  a.outputTokens === b.outputTokens &&
  a.cacheWriteTokens === b.cacheWriteTokens
