import type { Fact, OutputReader, ReaderInput, UsageTotals } from './adapter.ts'
import { estimateCost } from './prices.ts'
import { isRateLimit, isUsageLimit, resetTime } from './reset-time.ts'
import { deadSession, isContextOverflow } from './session.ts'
import {
  asCount,
  asDollars,
  asObject,
  asSessionId,
  asText,
  cut,
  type Json,
  NOTHING,
  parseLine,
  plus,
  toMicros,
} from './usage.ts'

/**
 * Creates the reader of `opencode run --format json`. Each step of the model
 * ends with its tokens and its cost. The output does not name the model, so the
 * configured one applies, or `default`. A reported cost of 0 means that the
 * program does not know the price; it is estimated, or unpriced. The output does
 * not contain the usage of session titles and sub-agents.
 */
export function opencodeReader(config: { model?: string | undefined }, run: ReaderInput, now = Date.now): OutputReader {
  const [provider, model] = modelOf(config.model)
  const counted = new Set<string>()
  let used = NOTHING
  let session: string | null = null

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      const part = asObject(line.part)
      return [...inSession(line), ...onLine(line, part)]
    },
    errorLine: (text) =>
      run.session !== null && /\bsession not found\b/i.test(text)
        ? deadSession('The program does not know the session any more.')
        : [],
  }

  function onLine(line: Json, part: Json): Fact[] {
    switch (line.type) {
      case 'text': {
        const text = asText(part.text)
        return text.trim() ? [{ kind: 'text', text: cut(text) }] : []
      }
      case 'step_finish':
        return [
          ...onUsage(part),
          ...(part.reason === 'stop' ? [{ kind: 'outcome', ok: true, code: null, message: null } as const] : []),
        ]
      case 'error':
        return onError(asObject(line.error))
      default:
        return []
    }
  }

  function inSession(line: Json): Fact[] {
    const id = asSessionId(line.sessionID)
    if (!id || id === session) return []
    session = id
    return [{ kind: 'session', id }]
  }

  function onUsage(part: Json): Fact[] {
    const id = asText(part.id)
    if (counted.has(id)) return []
    counted.add(id)
    used = plus(used, useOf(part))
    const isReported = used.costUsd !== null && used.costUsd > 0
    const costUsd = isReported ? used.costUsd : estimateCost(model, used)
    const costStatus = costUsd === null ? 'unpriced' : isReported ? 'reported' : 'estimated'
    return [{ kind: 'usage', provider, model, costStatus, ...used, costUsd: costUsd && toMicros(costUsd) }]
  }

  function onError(error: Json): Fact[] {
    const data = asObject(error.data)
    const message = cut(
      asText(data.message) || asText(error.message) || asText(error.name) || 'It ended with an error.',
    )
    if (isContextOverflow(message)) return deadSession(message)
    if (data.statusCode === 429 || isUsageLimit(message) || isRateLimit(message)) {
      return [
        { kind: 'rate_limited', until: resetTime(message, now()) },
        { kind: 'outcome', ok: false, code: 'rate_limited', message },
      ]
    }
    return [{ kind: 'outcome', ok: false, code: 'error', message }]
  }
}

/** Splits a name of the form `provider/model`. The model's own name may contain slashes. */
function modelOf(name: string | undefined): [provider: string, model: string] {
  const [, provider, model] = /^([^/]+)\/(.+)$/.exec(name ?? '') ?? []
  return [provider ?? 'opencode', model ?? name ?? 'default']
}

function useOf(part: Json): UsageTotals {
  const tokens = asObject(part.tokens)
  const cache = asObject(tokens.cache)
  return {
    inputTokens: asCount(tokens.input) + asCount(cache.write),
    cachedInputTokens: asCount(cache.read),
    outputTokens: asCount(tokens.output) + asCount(tokens.reasoning),
    costUsd: asDollars(part.cost),
  }
}
