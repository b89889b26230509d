import type { Fact, OutputReader, ReaderInput } from './adapter.ts'
import { estimateCost } from './prices.ts'
import { isRateLimit, isUsageLimit, resetTime } from './reset-time.ts'
import { deadSession, isContextOverflow } from './session.ts'
import { asCount, asObject, asSessionId, asText, cut, type Json, parseLine, toMicros } from './usage.ts'

/**
 * Creates the reader of `gemini --output-format stream-json`. Only the `result`
 * line contains tokens, for this run, by model. The program reports no cost, so
 * it is estimated, or unpriced for a model without a list price.
 */
export function geminiReader(_config: unknown, run: ReaderInput, now = Date.now): OutputReader {
  let session: string | null = null
  let message = ''
  let lastError = ''

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      switch (line.type) {
        case 'init':
          return onInit(line)
        case 'message':
          if (line.role === 'assistant')
            message = cut(line.delta === true ? message + asText(line.content) : asText(line.content))
          return []
        case 'tool_use':
          return flushText()
        case 'error':
          if (line.severity === 'error') lastError = cut(asText(line.message))
          return []
        case 'result':
          return [...flushText(), ...onUsage(asObject(asObject(line.stats).models)), ...onResult(line)]
        default:
          return []
      }
    },
    errorLine(text) {
      if (run.session !== null && /^error resuming session/i.test(text)) return deadSession(cut(text))
      const [, attempt, status] = /^attempt (\d+) failed(?: with status (\d+))?/i.exec(text) ?? []
      return attempt
        ? [{ kind: 'retrying', text: `retrying after attempt ${attempt}${status ? `: ${status}` : ''}` }]
        : []
    },
  }

  function onInit(line: Json): Fact[] {
    const id = asSessionId(line.session_id)
    if (!id || id === session) return []
    session = id
    return [{ kind: 'session', id }]
  }

  function flushText(): Fact[] {
    const text = message.trim()
    message = ''
    return text ? [{ kind: 'text', text }] : []
  }

  function onResult(line: Json): Fact[] {
    const retried: Fact = { kind: 'retrying', text: null }
    if (line.status === 'success') return [retried, { kind: 'outcome', ok: true, code: null, message: null }]
    const message = cut(asText(asObject(line.error).message) || lastError || 'It ended with an error.')
    if (isContextOverflow(message)) return deadSession(message)
    if (!isUsageLimit(message) && !isRateLimit(message) && !/resource_exhausted|quota/i.test(message)) {
      return [retried, { kind: 'outcome', ok: false, code: 'error', message }]
    }
    return [
      { kind: 'rate_limited', until: resetTime(message, now()) },
      { kind: 'outcome', ok: false, code: 'rate_limited', message },
    ]
  }
}

function onUsage(models: Json): Fact[] {
  return Object.entries(models)
    .slice(0, 64)
    .flatMap(([name, value]): Fact[] => {
      const figures = asObject(value)
      const prompt = asCount(figures.input_tokens)
      const cachedInputTokens = Math.min(asCount(figures.cached), prompt)
      // The total includes the thoughts, which are priced as output.
      const outputTokens = Math.max(asCount(figures.output_tokens), asCount(figures.total_tokens) - prompt)
      const use = { inputTokens: prompt - cachedInputTokens, cachedInputTokens, outputTokens }
      if (prompt + outputTokens === 0) return []
      const model = cut(name, 200)
      const costUsd = estimateCost(model, use)
      const costStatus = costUsd === null ? 'unpriced' : 'estimated'
      return [{ kind: 'usage', provider: 'google', model, costStatus, ...use, costUsd: costUsd && toMicros(costUsd) }]
    })
}
