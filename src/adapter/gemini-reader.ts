import type { Fact, OutputReader, ReaderInput } from './adapter.ts'
import { findGeminiSessions, followGeminiSession, geminiUsage } from './gemini-session-files.ts'
import { createRefusalWatch } from './refusals.ts'
import { isRateLimit, isUsageLimit, resetTime } from './reset-time.ts'
import { deadSession, isContextOverflow } from './session.ts'
import { asObject, asSessionId, asText, cut, type Json, parseLine } from './usage.ts'
import { createUsageLedger } from './usage-ledger.ts'

/**
 * Creates the reader of `gemini --output-format stream-json` and of the
 * program's session files.
 *
 * During the run, only the session files contain tokens. The `result` line
 * contains those of the whole run, by model, and replaces them. The program
 * reports no cost, so it is estimated, or unpriced for a model without a list
 * price.
 */
export function geminiReader(_config: unknown, run: ReaderInput, now = Date.now): OutputReader {
  const ledger = createUsageLedger()
  const id = run.session?.id ?? run.newSessionId
  const store = findGeminiSessions(run.env ?? {}, id, { isResumed: run.session !== null })
  const files = store && followGeminiSession(store, ledger)
  let pending: Fact[] = store ? [{ kind: 'session_store', ...store }] : []
  let session: string | null = null
  let isOver = false
  let message = ''
  let lastError = ''
  let isRetrying = false
  const refusals = createRefusalWatch(now)

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      switch (line.type) {
        case 'init':
          return onInit(line)
        case 'message':
          if (line.role !== 'assistant') return []
          message = cut(line.delta === true ? message + asText(line.content) : asText(line.content))
          return onResponse()
        case 'tool_use':
          return [...onResponse(), ...flushText()]
        case 'tool_result':
          return poll() // by now, the files have the tokens of the call before the tool
        case 'error':
          if (line.severity === 'error') lastError = cut(asText(line.message))
          return []
        case 'result':
          return [...flushText(), ...onUsage(asObject(asObject(line.stats).models)), ...onResult(line)]
        default:
          return []
      }
    },
    poll,
    errorLine(text) {
      if (run.session !== null && /^error resuming session/i.test(text)) return deadSession(cut(text))
      if (/^unknown arguments?:/i.test(text))
        return [{ kind: 'outcome', ok: false, code: 'usage', message: `${cut(text.trim())}. Check extraArgs.` }]
      const [, attempt, status] = /^attempt (\d+) failed(?: with status (\d+))?/i.exec(text) ?? []
      if (!attempt) return []
      const cause = [status, cut(/"message":"([^"]+)"/.exec(text)?.[1] ?? '', 200)].filter(Boolean).join(' ')
      if (status === '429') refusals.refused(cause)
      isRetrying = true
      return [{ kind: 'retrying', text: `retrying after attempt ${attempt}${cause ? `: ${cause}` : ''}` }]
    },
  }

  function poll(isEnd = false): Fact[] {
    if (!isOver) files?.read(isEnd)
    const facts = [...pending, ...ledger.facts(), ...refusals.facts()]
    pending = []
    return facts
  }

  /** Notes that the provider responded, which ends a series of retries. */
  function onResponse(): Fact[] {
    refusals.accepted()
    if (!isRetrying) return []
    isRetrying = false
    return [{ kind: 'retrying', text: null }]
  }

  function onInit(line: Json): Fact[] {
    const id = asSessionId(line.session_id)
    if (!id || id === session) return []
    session = id
    files?.begin()
    return [{ kind: 'session', id }]
  }

  function flushText(): Fact[] {
    const text = message.trim()
    message = ''
    return text ? [{ kind: 'text', text }] : []
  }

  function onResult(line: Json): Fact[] {
    refusals.accepted()
    const retried: Fact = { kind: 'retrying', text: null }
    if (line.status === 'success') return [retried, { kind: 'outcome', ok: true, code: null, message: null }]
    const message = cut(unwrap(asText(asObject(line.error).message)) || lastError || 'It ended with an error.')
    if (isContextOverflow(message)) return deadSession(message)
    if (!isUsageLimit(message) && !isRateLimit(message) && !/resource_exhausted|quota/i.test(message)) {
      return [retried, { kind: 'outcome', ok: false, code: 'error', message }]
    }
    return [
      { kind: 'rate_limited', until: resetTime(message, now()) },
      { kind: 'outcome', ok: false, code: 'rate_limited', message },
    ]
  }

  function onUsage(models: Json): Fact[] {
    const named = Object.entries(models).slice(0, 64)
    if (named.length === 0) return []
    isOver = true
    ledger.clear()
    for (const [model, value] of named) {
      const { input_tokens: input, output_tokens: output, cached, total_tokens: total } = asObject(value)
      ledger.set(model, geminiUsage(model, { input, output, cached, total }))
    }
    return ledger.facts()
  }
}

/** Returns the provider's own message from an error of the program: `[API Error: {"error":{"message":...}}]`. */
function unwrap(message: string): string {
  const [, json] = /^\[API Error: (\{.*\})\]/s.exec(message) ?? []
  const error = asObject(parseLine(json ?? '')?.error)
  return error.message
    ? [asText(error.message), error.code && `(HTTP ${error.code})`].filter(Boolean).join(' ')
    : message
}
