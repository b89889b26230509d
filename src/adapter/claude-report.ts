import type { UsageTotals } from './adapter.ts'
import { asCount, asDollars, asObject, cut, type Json, minus, NOTHING, sumTokens, tokens, toMicros } from './usage.ts'

/** Parses the usage by model in a `result` line. Depending on the program's version it covers the session or the run. */
export function reportOf(line: Json, usage: UsageTotals, mainModel: string): Map<string, UsageTotals> {
  const cost = asDollars(line.total_cost_usd)
  const report = new Map<string, UsageTotals>()
  for (const [name, value] of Object.entries(asObject(line.modelUsage)).slice(0, 64)) {
    const figures = asObject(value)
    const model = modelName(name)
    if (!model) continue
    report.set(model, {
      inputTokens: asCount(figures.inputTokens) + asCount(figures.cacheCreationInputTokens),
      cachedInputTokens: asCount(figures.cacheReadInputTokens),
      outputTokens: asCount(figures.outputTokens),
      costUsd: asDollars(figures.costUSD),
    })
  }
  if (report.size === 0) {
    const { inputTokens, cachedInputTokens, outputTokens } = usage
    report.set(mainModel, { inputTokens, cachedInputTokens, outputTokens, costUsd: cost })
  } else if (report.size === 1 && cost !== null) {
    for (const use of report.values()) use.costUsd ??= cost
  }
  return report
}

/**
 * Whether a report covers the whole session and not only this run. The program
 * does not state it: since 2.1.277 the report covers the session, earlier the
 * run, and `usage` covers the run in both. A report is cumulative if it exceeds
 * the run's own tokens by at least half of the tokens of earlier runs. The
 * margin is necessary because sub-agents also make it exceed `usage`.
 *
 * @param ofRun the tokens of this run
 */
export function isCumulative(
  report: Map<string, UsageTotals>,
  earlier: Map<string, UsageTotals>,
  ofRun: number,
): boolean {
  const before = sumTokens(earlier.values())
  const beyond = sumTokens(report.values()) - ofRun
  return before > 0 && beyond > 0 && beyond >= before / 2
}

/** Subtracts the usage of earlier runs from a cumulative report. */
export function sinceLast(
  report: Map<string, UsageTotals>,
  earlier: Map<string, UsageTotals>,
): Map<string, UsageTotals> {
  const since = new Map<string, UsageTotals>()
  for (const [model, whole] of report) {
    const before = earlier.get(model) ?? NOTHING
    const use = minus(whole, before)
    // The earlier cost is unknown, so this run gets a share of the whole cost in proportion to its tokens.
    if (use.costUsd === null && whole.costUsd !== null && tokens(whole) > 0) {
      use.costUsd = toMicros((whole.costUsd * tokens(use)) / tokens(whole))
    }
    since.set(model, use)
  }
  return since
}

/** Returns the models whose price the program does not know (`costBasis` is `unknown`). Their reported cost is meaningless. */
export const unpricedModels = (line: Json): Set<string> =>
  new Set(
    Object.entries(asObject(line.modelUsage))
      .filter(([, figures]) => (asObject(figures).costBasis ?? line.costBasis) === 'unknown')
      .flatMap(([name]) => modelName(name) ?? []),
  )

/** Returns the name of a model, or null. The program marks lines of its own with the model `<synthetic>`, which cost nothing. */
export const modelName = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value !== '<synthetic>' ? cut(value, 200) : null
