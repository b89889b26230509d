import type { UsageTotals } from './adapter.ts'
import { asCount, asDollars, asObject, cut, type Json, minus, NOTHING, sumTokens, tokens, toMicros } from './usage.ts'

/** The result's figures by model; of the whole session or of the run, as the program's version has it. */
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
 * Whether a report counts the whole session rather than this run. The program
 * does not say; since 2.1.277 it counts the session, before it counted the
 * run, and `usage` is the run's in both. So: what `modelUsage` has beyond the
 * run's own tokens must be there at all, and be of the size of what is known
 * from the runs before (subagents, too, make it exceed `usage`, by their own).
 */
export function isCumulative(report: Map<string, UsageTotals>, kept: Map<string, UsageTotals>, ofRun: number): boolean {
  const before = sumTokens(kept.values())
  const beyond = sumTokens(report.values()) - ofRun
  return before > 0 && beyond > 0 && beyond >= before / 2
}

export function sinceLast(report: Map<string, UsageTotals>, kept: Map<string, UsageTotals>): Map<string, UsageTotals> {
  const since = new Map<string, UsageTotals>()
  for (const [model, whole] of report) {
    const before = kept.get(model) ?? NOTHING
    const use = minus(whole, before)
    // The session's earlier cost is not known: this run's share, by its tokens.
    if (use.costUsd === null && whole.costUsd !== null && tokens(whole) > 0) {
      use.costUsd = toMicros((whole.costUsd * tokens(use)) / tokens(whole))
    }
    since.set(model, use)
  }
  return since
}

/** The models whose price the program says that it does not know: `costBasis` is `unknown`, and their cost is made up. */
export const unpricedModels = (line: Json): Set<string> =>
  new Set(
    Object.entries(asObject(line.modelUsage))
      .filter(([, figures]) => (asObject(figures).costBasis ?? line.costBasis) === 'unknown')
      .flatMap(([name]) => modelName(name) ?? []),
  )

/** Lines that the program makes up itself carry the model `<synthetic>` and cost nothing. */
export const modelName = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value !== '<synthetic>' ? cut(value, 200) : null
