import type { Fact, OutputReader, ReaderInput, UsageTotals } from './adapter.ts'
import { createMessageMeter, spentOf } from './claude-meter.ts'
import { isCumulative, modelName, reportOf, sinceLast, unpricedModels } from './claude-report.ts'
import { onRetry } from './claude-retry.ts'
import { followSubagents } from './claude-subagents.ts'
import { estimateCost } from './prices.ts'
import { fromEpochSeconds, isRateLimit, isUsageLimit, resetTime } from './reset-time.ts'
import { deadSession, isContextOverflow } from './session.ts'
import {
  asObject,
  asSessionId,
  asText,
  cut,
  type Json,
  NOTHING,
  parseLine,
  parseTotals,
  plus,
  sumTokens,
  tokens,
  toMicros,
} from './usage.ts'

/**
 * Creates the reader of `claude --output-format stream-json`.
 *
 * While the run streams, each message's tokens count once, at list price. The
 * `result` line then replaces these estimates by the reported usage. The lines
 * of a message contain only the output tokens of its start. The final number is
 * in the `message_delta` event, if the program emits partial messages, and for
 * sub-agents in their files. Both update the session's totals, so that the next
 * run does not count the usage of a run that died before its result. A message
 * that was interrupted counts for the run but not for the totals, because the
 * program's own totals of the session omit it.
 */
export function claudeReader(config: { model?: string | undefined }, run: ReaderInput, now = Date.now): OutputReader {
  const earlier = parseTotals(run.session?.totals)
  const meter = createMessageMeter()
  const subagents = followSubagents(run.env ?? {}, onSubagentLine)
  /** The id of the streaming message of each agent. Not all events of a message contain it. */
  const streaming = new Map<string, string>()
  /** The messages that started and did not end. If the program dies, its session does not count them. */
  const open = new Set<string>()
  let pending: Fact[] = []
  let session: string | null = null
  let mainModel: string | null = null
  let reported = false
  let isRetrying = false
  let refused: { until: string | null } | null = null
  if (run.session) subagents.skip(run.session.id)

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      switch (line.type) {
        case 'system':
          if (line.subtype === 'api_retry') return onApiRetry(line)
          return line.subtype === 'init' ? onInit(line) : []
        case 'stream_event':
          return onStreamEvent(line, asObject(line.event))
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
    poll(isEnd = false) {
      if (!reported) subagents.read(session ?? run.session?.id ?? run.newSessionId, isEnd)
      const facts = pending
      pending = []
      return facts
    },
    isNoise: (text) => text.includes('"stream_event"') && parseLine(text)?.type === 'stream_event',
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

  function onApiRetry(line: Json): Fact[] {
    isRetrying = true
    return onRetry(line, now())
  }

  /** Notes that the provider responded, which ends a series of retries. */
  function onResponse(): Fact[] {
    if (!isRetrying) return []
    isRetrying = false
    return [{ kind: 'retrying', text: null }]
  }

  function onStreamEvent(line: Json, event: Json): Fact[] {
    const agent = asText(line.parent_tool_use_id)
    if (event.type === 'message_start') {
      const message = asObject(event.message)
      streaming.set(agent, asText(message.id))
      open.add(asText(message.id))
      return [...onResponse(), ...onUsage(asText(message.id), modelName(message.model), asObject(message.usage))]
    }
    if (event.type !== 'message_delta') return []
    const id = asText(line.api_message_id) || streaming.get(agent) || ''
    open.delete(id)
    return onUsage(id, meter.modelOf(id) ?? null, asObject(event.usage))
  }

  function onAssistant(line: Json): Fact[] {
    const message = asObject(line.message)
    const facts = onResponse()
    const texts = Array.isArray(message.content)
      ? message.content.map(asObject).filter((block) => block.type === 'text')
      : []
    const text = asText(texts.at(-1)?.text)
    if (text.trim()) facts.push({ kind: 'text', text: cut(text) })
    if (line.error === 'rate_limit' && !refused) refused = { until: null }
    return [...facts, ...onUsage(asText(message.id), modelName(message.model), asObject(message.usage))]
  }

  function onSubagentLine(text: string): void {
    const line = text.includes('"assistant"') ? parseLine(text) : null
    if (line?.type !== 'assistant') return
    const message = asObject(line.message)
    pending.push(...onUsage(asText(message.id), modelName(message.model), asObject(message.usage)))
  }

  function onUsage(id: string, model: string | null, usage: Json): Fact[] {
    const changed = model && !reported ? meter.add(id, model, usage) : []
    if (changed.length === 0) return []
    return [
      ...changed.map((name) => usageFact(name, meter.estimate(name), 'estimated')),
      totalsFact(new Map([...meter.models()].map((name) => [name, meter.estimate(name, open)]))),
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
    if (!ok && (isDead(message) || isContextOverflow(message))) return deadSession(message)
    const facts = [...inSession(line), ...onReport(line), ...onRefusals(line)]
    if (ok) {
      if (message.trim()) facts.push({ kind: 'text', text: message })
      return [...facts, { kind: 'outcome', ok, code: null, message: null }]
    }
    const limited = refused !== null || line.api_error_status === 429 || isUsageLimit(message) || isRateLimit(message)
    if (limited) facts.push(refuse(refused?.until ?? resetTime(message, now()))) // the time of an event is more precise than that of a text
    return [...facts, { kind: 'outcome', ok, code: limited ? 'rate_limited' : subtypeCode(subtype), message }]
  }

  function onRefusals(line: Json): Fact[] {
    const count = Array.isArray(line.permission_denials) ? line.permission_denials.length : 0
    return count > 0 ? [{ kind: 'refused_tools', count }] : []
  }

  /** Replaces the estimates by the reported usage. Returns no facts if the result reports none, as after some errors. */
  function onReport(line: Json): Fact[] {
    const usage = spentOf(asObject(line.usage))
    const report = reportOf(line, usage, mainModel ?? modelName(config.model) ?? 'unknown')
    if (sumTokens(report.values()) === 0 && ![...report.values()].some((use) => use.costUsd)) return []
    const ofRun = Math.max(tokens(usage), meter.tokens())
    const unpriced = unpricedModels(line)
    const use = isCumulative(report, earlier, ofRun) ? sinceLast(report, earlier) : report
    // The result may name a model differently than the stream. Its estimate is set to zero, so that it does not count twice.
    for (const model of meter.models()) if (!use.has(model)) use.set(model, { ...NOTHING })
    reported = true
    const facts: Fact[] = []
    for (const [model, figures] of use) {
      // The reported cost is meaningless if the program does not know the model's price.
      if (unpriced.has(model)) figures.costUsd = null
      const isReported = figures.costUsd !== null
      figures.costUsd ??= estimateCost(model, figures)
      facts.push(usageFact(model, figures, isReported ? 'reported' : 'estimated'))
    }
    return [...facts, totalsFact(use)]
  }

  function totalsFact(ofRun: Map<string, UsageTotals>): Fact {
    const totals = new Map(earlier)
    for (const [model, use] of ofRun) {
      if (earlier.has(model) || tokens(use) > 0 || use.costUsd)
        totals.set(model, rounded(plus(earlier.get(model) ?? NOTHING, use)))
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
  return subtype === 'error_max_turns'
    ? 'The run reached its limit of turns (maxTurns).'
    : `The program reported ${subtypeCode(subtype)}.`
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
