import type { Fact, SessionFileStart, UsageTotals } from './adapter.ts'
import { openSessionFile } from './codex-session-file.ts'
import { estimateCost } from './prices.ts'
import { minus, NOTHING, plus, tokens } from './usage.ts'

/** Computes the usage of a run from the totals of its thread, which several runs and models may share. */
export interface ThreadMeter {
  /** Sets the model of the usage that follows. */
  setModel(model: string): void
  /** Counts the growth of the total since the last call. A repeated total, also from the other source, counts nothing. */
  add(total: UsageTotals, source: 'file' | 'output'): Fact[]
}

/** The usage of a run so far by model, over all of its threads. */
export type UsedByModel = Map<string, UsageTotals>

/**
 * Creates the meter of one thread of a run: its own, or that of a sub-agent.
 *
 * @param start the thread's total and model at the start of the run
 * @param used the usage of all threads of the run, to which the meter adds
 */
export function createThreadMeter(
  { before, model, isSubagent }: Pick<SessionFileStart, 'before' | 'model' | 'isSubagent'>,
  used: UsedByModel,
): ThreadMeter {
  let counted = NOTHING
  return {
    setModel(name) {
      model = name
    },
    add(total, source) {
      // A thread's total never shrinks. A smaller total in the output covers the run alone; in the file it is outdated.
      const isOwn = isBelow(total, before)
      if (isOwn && source === 'file') return []
      const more = minus(isOwn ? total : minus(total, before), counted)
      if (tokens(more) === 0) return []
      counted = plus(counted, more)
      const use = plus(used.get(model) ?? NOTHING, more)
      used.set(model, use)
      const costUsd = estimateCost(model, use)
      const costStatus = costUsd === null ? 'unpriced' : 'estimated'
      const usage: Fact = { kind: 'usage', provider: 'openai', model, costStatus, ...use, costUsd }
      // The next run resumes the run's own thread, so only that one needs stored totals.
      return isSubagent ? [usage] : [usage, { kind: 'totals', totals: Object.fromEntries([[model, total]]) }]
    },
  }
}

/** Reads the usage of a run from the session files of its threads. It serves for a run whose reader died. */
export function readSessionFileUsage(starts: readonly SessionFileStart[]): Fact[] {
  const facts: Fact[] = []
  const used: UsedByModel = new Map()
  for (const start of starts) {
    const meter = createThreadMeter(start, used)
    const file = openSessionFile(start.path, start.offset, {
      onModel: meter.setModel,
      onTotal: (total) => facts.push(...meter.add(total, 'file')),
    })
    file.read()
  }
  return facts
}

const isBelow = (total: UsageTotals, before: UsageTotals): boolean =>
  total.inputTokens + total.cachedInputTokens < before.inputTokens + before.cachedInputTokens ||
  total.outputTokens < before.outputTokens
