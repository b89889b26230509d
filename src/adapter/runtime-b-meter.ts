import type { Fact, SessionFileStart, UsageTotals } from './adapter.ts'
import { estimateCost } from './prices.ts'
import { openSessionFile } from './runtime-b-session-file.ts'
import { minus, NOTHING, plus, tokens } from './usage.ts'

/** Tells a run's own use from the totals of its thread, which several runs and models may share. */
export interface ThreadMeter {
  /** The model of what is counted from here on. */
  setModel(model: string): void
  /** Counts what a total has beyond what was counted already. The same total twice, or from both sources, counts once. */
  add(total: UsageTotals, source: 'file' | 'output'): Fact[]
}

/** What a run has used so far of each model, in all of its threads. */
export type UsedByModel = Map<string, UsageTotals>

/**
 * Creates the meter of one thread of a run: its own, or that of a sub-agent.
 *
 * @param start the thread's total at the start of the run, and the model as far as it is known by then
 * @param used what the threads of the run have used together; the meter adds to it
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
      // A thread's total never shrinks. Where the output's did, it is the run's own; in the file it is an old one.
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
      // The next run resumes the run's own thread.
      return isSubagent ? [usage] : [usage, { kind: 'totals', totals: Object.fromEntries([[model, total]]) }]
    },
  }
}

/** Reads what a run used from the session files of its threads alone: for a run whose reader died before its program. */
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
