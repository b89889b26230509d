import type { UsageTotals } from './adapter.ts'

/**
 * List prices in US dollars per million tokens: input, input read from a cache,
 * output. Published in October 2026. They serve for estimates during a run and
 * for programs that report no cost; a reported cost replaces an estimate. A
 * model that is not listed is unpriced. If a price depends on prompt length,
 * batch or priority, the lower rate is listed.
 */
const PRICES = new Map<string, readonly [input: number, cached: number, output: number]>([
  ['demo', [3, 0.3, 15]], // the demo agent costs nothing; these prices let a user try out budgets
  ['claude-fable-5-1', [10, 0.25, 50]],
  ['claude-fable-5', [10, 1, 50]],
  ['claude-opus-5-5', [4, 0.2, 20]],
  ['claude-opus-5', [5, 0.5, 25]],
  ['claude-opus-4-8', [5, 0.5, 25]],
  ['claude-opus-4-7', [5, 0.5, 25]],
  ['claude-opus-4-6', [5, 0.5, 25]],
  ['claude-opus-4-5', [5, 0.5, 25]],
  ['claude-opus-4-1', [15, 1.5, 75]],
  ['claude-opus-4', [15, 1.5, 75]],
  ['claude-sonnet-5-5', [2, 0.1, 10]],
  ['claude-sonnet-5', [2, 0.2, 10]],
  ['claude-sonnet-4-6', [3, 0.3, 15]],
  ['claude-sonnet-4-5', [3, 0.3, 15]],
  ['claude-sonnet-4', [3, 0.3, 15]],
  ['claude-3-7-sonnet', [3, 0.3, 15]],
  ['claude-haiku-5-5', [0.1, 0.01, 0.5]],
  ['claude-haiku-4-5', [1, 0.1, 5]],
  ['claude-3-5-haiku', [0.8, 0.08, 4]],
  ['gpt-6.1-sol', [2, 0.1, 10]],
  ['gpt-6-astra', [10, 1, 50]],
  ['gpt-6-sol', [2, 0.2, 10]],
  ['gpt-6-luna', [0.1, 0.01, 0.5]],
  ['gpt-5.6', [4, 0.4, 20]],
  ['gpt-5.6-sol', [4, 0.4, 20]],
  ['gpt-5.6-terra', [2, 0.2, 12]],
  ['gpt-5.6-luna', [0.2, 0.02, 1.2]],
  ['gpt-5.5', [5, 0.5, 30]],
  ['gpt-5.4', [2.5, 0.25, 15]],
  ['gpt-5.4-mini', [0.75, 0.075, 4.5]],
  ['gpt-5.4-nano', [0.2, 0.02, 1.25]],
  ['gpt-5.3-codex', [1.75, 0.175, 14]],
  ['gpt-5.2', [1.75, 0.175, 14]],
  ['gpt-5.1', [1.25, 0.125, 10]],
  ['gpt-5', [1.25, 0.125, 10]],
  ['gpt-5-mini', [0.25, 0.025, 2]],
  ['gpt-5-nano', [0.05, 0.005, 0.4]],
  ['gemini-3.8-flash', [0.75, 0.075, 3.75]],
  ['gemini-3.7-flash', [0.75, 0.075, 3.75]],
  ['gemini-3.6-flash', [0.75, 0.075, 3.75]],
  ['gemini-3.5-flash', [1.5, 0.15, 9]],
  ['gemini-3.5-flash-lite', [0.3, 0.03, 2.5]],
  ['gemini-3.1-pro-preview', [2, 0.2, 12]],
  ['gemini-3.1-pro-preview-customtools', [2, 0.2, 12]],
  ['gemini-3.1-flash-lite', [0.25, 0.025, 1.5]],
  ['gemini-3-flash-preview', [0.5, 0.05, 3]],
  ['gemini-2.5-pro', [1.25, 0.125, 10]],
  ['gemini-2.5-flash', [0.3, 0.03, 2.5]],
  ['gemini-2.5-flash-lite', [0.1, 0.01, 0.4]],
])

/** The extra price of input that is written to a cache for five minutes, as a share of the input price. */
const CACHE_WRITE_PREMIUM = 0.25

/**
 * Estimates the cost of a usage at list price, in US dollars. Returns null for a
 * model that is not listed.
 *
 * @param model a listed name, optionally with a date or variant at its end; a
 *   prefix match would price `gpt-5-something-else` as `gpt-5`
 * @param cacheWriteTokens the part of the input that was written to a cache
 */
export function estimateCost(model: string, use: Omit<UsageTotals, 'costUsd'>, cacheWriteTokens = 0): number | null {
  const price = PRICES.get(model.toLowerCase().replace(/(?:[-@](?:\d{8}|\d{4}-\d\d-\d\d|latest))?(?:\[\w+\])?$/, ''))
  if (!price) return null
  const [input, cached, output] = price
  const micros =
    (use.inputTokens + cacheWriteTokens * CACHE_WRITE_PREMIUM) * input +
    use.cachedInputTokens * cached +
    use.outputTokens * output
  return Math.round(micros) / 1e6
}
