import type { Fact, OutputReader, ReaderInput, UsageTotals } from './adapter.ts'
import { estimateCost } from './prices.ts'
import { fromEpochSeconds, isUsageLimit, resetTime } from './reset-time.ts'
import { isCumulative, modelName, reportOf, sinceLast } from './runtime-a-report.ts'
import { deadSession } from './session.ts'
import {
  asCount,
  asObject,
  asSessionId,
  asText,
  cut,
  type Json,
  keptTotals,
  NOTHING,
  parseLine,
  plus,
  sumTokens,
  tokens,
  toMicros,
} from './usage.ts'

/** A use of tokens, with the part of the input that was written to a cache. */
type Spent = UsageTotals & { cacheWriteTokens: number }

/**
 * Reads `claude --output-format stream-json`.
 *
 * While the run streams, each message's tokens are counted once (its lines
 * repeat for each content block, and the last usage wins) and priced from the
 * table; the `result` line then replaces the estimates by what the program
 * reports. The session's totals are kept up with either, so that a run that
 * dies before its result is not counted again by the next one.
 */
export function runtimeAReader(config: { model?: string | undefined }, run: ReaderInput, now = Date.now): OutputReader {
  const kept = keptTotals(run.session?.totals)
  const messages = new Map<string, Spent & { model: string }>()
  const streamed = new Map<string, Spent>()
  let session: string | null = null
  let mainModel: string | null = null
  let reported = false
  let refused: { until: string | null } | null = null

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      switch (line.type) {
        case 'system':
          return line.subtype === 'init' ? onInit(line) : []
        case 'assistant':
          return onAssistant(line)
        case 'rate_limit_event':
          return onRateLimit(asObject(line.rate_limit_info))
        case 'result':
          return onResult(line)
        default:
          return []
      }
    },
    errorLine(text) {
      const line = cut(text)
      if (isDead(line)) return deadSession(line)
      if (isUsageLimit(line)) return [refuse(resetTime(line, now()))]
      return []
    },
  }

  function onInit(line: Json): Fact[] {
    mainModel = modelName(line.model)
    return inSession(line)
  }

  function inSession(line: Json): Fact[] {
    const id = asSessionId(line.session_id)
    if (!id || id === session) return []
    session = id
    return [{ kind: 'session', id }]
  }

  function onAssistant(line: Json): Fact[] {
    const message = asObject(line.message)
    const facts: Fact[] = []
    const said = Array.isArray(message.content)
      ? message.content.map(asObject).filter((block) => block.type === 'text')
      : []
    const text = asText(said.at(-1)?.text)
    if (text.trim()) facts.push({ kind: 'text', text: cut(text) })
    if (line.error === 'rate_limit' && !refused) refused = { until: null }
    const model = modelName(message.model)
    if (model && !reported) facts.push(...onUsage(asText(message.id), model, asObject(message.usage)))
    return facts
  }

  function onUsage(id: string, model: string, usage: Json): Fact[] {
    const spent = spentOf(usage)
    const before = messages.get(id)
    if (tokens(spent) === 0 || (before && before.model === model && isSame(before, spent))) return []
    messages.set(id, { ...spent, model })
    if (messages.size > 512) messages.delete(messages.keys().next().value!) // the lines of a message stand close together
    if (before) streamed.set(before.model, addSpent(streamed.get(before.model), before, -1))
    streamed.set(model, addSpent(streamed.get(model), spent, 1))
    const changed = before && before.model !== model ? [before.model, model] : [model]
    return [
      ...changed.map((name) => usageFact(name, priced(name, streamed.get(name)!), 'estimated')),
      totalsFact(estimates()),
    ]
  }

  function onRateLimit(info: Json): Fact[] {
    if (info.status !== 'rejected' || info.isUsingOverage === true) return []
    return [refuse(fromEpochSeconds(info.resetsAt))]
  }

  function refuse(until: string | null): Fact {
    refused = { until: until ?? refused?.until ?? null }
    return { kind: 'rate_limited', ...refused }
  }

  function onResult(line: Json): Fact[] {
    const subtype = asText(line.subtype)
    const ok =
      line.is_error === undefined
        ? !subtype.startsWith('error')
        : line.is_error === false && !subtype.startsWith('error')
    const message = cut(ok ? asText(line.result) : failure(line, subtype))
    if (!ok && isDead(message)) return deadSession(message)
    const facts = [...inSession(line), ...onReport(line)]
    if (ok) {
      if (message.trim()) facts.push({ kind: 'text', text: message })
      return [...facts, { kind: 'outcome', ok, code: null, message: null }]
    }
    const limited = refused !== null || line.api_error_status === 429 || isUsageLimit(message)
    if (limited) facts.push(refuse(refused?.until ?? resetTime(message, now()))) // an event's moment is exact, a text's is not
    return [...facts, { kind: 'outcome', ok, code: limited ? 'rate_limited' : subtypeCode(subtype), message }]
  }

  /** What the result reports, instead of the estimates; nothing when it reports nothing, as after some errors. */
  function onReport(line: Json): Fact[] {
    const usage = spentOf(asObject(line.usage))
    const report = reportOf(line, usage, mainModel ?? modelName(config.model) ?? 'unknown')
    if (sumTokens(report.values()) === 0 && ![...report.values()].some((use) => use.costUsd)) return []
    const ofRun = Math.max(tokens(usage), sumTokens(streamed.values()))
    const use = isCumulative(report, kept, ofRun) ? sinceLast(report, kept) : report
    // A model may be reported under another name than it streamed under: its estimate goes, lest it count twice.
    for (const model of streamed.keys()) if (!use.has(model)) use.set(model, { ...NOTHING })
    reported = true
    const facts: Fact[] = []
    for (const [model, figures] of use) {
      const isReported = figures.costUsd !== null
      figures.costUsd ??= estimateCost(model, figures)
      facts.push(usageFact(model, figures, isReported ? 'reported' : 'estimated'))
    }
    return [...facts, totalsFact(use)]
  }

  function estimates(): Map<string, UsageTotals> {
    return new Map([...streamed].map(([model, spent]) => [model, priced(model, spent)]))
  }

  function totalsFact(ofRun: Map<string, UsageTotals>): Fact {
    const totals = new Map(kept)
    for (const [model, use] of ofRun) {
      if (kept.has(model) || tokens(use) > 0 || use.costUsd)
        totals.set(model, rounded(plus(kept.get(model) ?? NOTHING, use)))
    }
    return { kind: 'totals', totals: Object.fromEntries(totals) }
  }

  function isDead(text: string): boolean {
    return run.session !== null && /no conversation found with session id/i.test(text)
  }
}

function failure(line: Json, subtype: string): string {
  const errors = Array.isArray(line.errors) ? line.errors : []
  const texts = errors.map((error) => asText(error) || asText(asObject(error).message)).filter(Boolean)
  if (texts.length > 0) return texts.join('; ')
  if (asText(line.result)) return asText(line.result)
  return subtype === 'error_max_turns' ? 'It used up its turns (maxTurns).' : `It ended with ${subtypeCode(subtype)}.`
}

const subtypeCode = (subtype: string): string => (subtype.startsWith('error') ? cut(subtype, 100) : 'error')

function usageFact(model: string, use: UsageTotals, costStatus: 'reported' | 'estimated'): Fact {
  const { inputTokens, cachedInputTokens, outputTokens, costUsd } = rounded(use)
  return {
    kind: 'usage',
    provider: model === 'demo' ? 'demo' : 'anthropic',
    model,
    costStatus: costUsd === null ? 'unpriced' : costStatus,
    inputTokens,
    cachedInputTokens,
    outputTokens,
    costUsd,
  }
}

const rounded = (use: UsageTotals): UsageTotals => ({
  ...use,
  costUsd: use.costUsd === null ? null : toMicros(use.costUsd),
})

function priced(model: string, spent: Spent): UsageTotals {
  const { cacheWriteTokens, ...use } = spent
  return { ...use, costUsd: estimateCost(model, use, cacheWriteTokens) }
}

const spentOf = (usage: Json): Spent => ({
  inputTokens: asCount(usage.input_tokens) + asCount(usage.cache_creation_input_tokens),
  cachedInputTokens: asCount(usage.cache_read_input_tokens),
  outputTokens: asCount(usage.output_tokens),
  cacheWriteTokens: asCount(usage.cache_creation_input_tokens),
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
