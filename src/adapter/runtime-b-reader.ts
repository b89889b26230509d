import type { Fact, OutputReader, ReaderInput, UsageTotals } from './adapter.ts'
import { estimateCost } from './prices.ts'
import { isUsageLimit, resetTime } from './reset-time.ts'
import { deadSession } from './session.ts'
import {
  asCount,
  asObject,
  asSessionId,
  asText,
  cut,
  type Json,
  keptTotals,
  minus,
  NOTHING,
  parseLine,
  plus,
} from './usage.ts'

/**
 * Reads `codex exec --json`.
 *
 * Tokens come only with `turn.completed`, as the thread's cumulative figures,
 * and never with a cost: this run's use is the difference from what is kept of
 * the thread. The stream does not name the model either; it is the configured
 * one, else `default`, which is unpriced.
 */
export function runtimeBReader(config: { model?: string | undefined }, run: ReaderInput, now = Date.now): OutputReader {
  const model = config.model || 'default'
  let thread = run.session?.id ?? null
  // The kept figures are those of one thread, whatever models it has used.
  let before = [...keptTotals(run.session?.totals).values()].reduce(plus, NOTHING)
  let announced: string | null = null

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      switch (line.type) {
        case 'thread.started':
          return onThread(line)
        case 'item.completed':
          return onItem(asObject(line.item))
        case 'turn.completed':
          return [...onUsage(asObject(line.usage)), { kind: 'outcome', ok: true, code: null, message: null }]
        case 'turn.failed':
          return onFailure(cut(asText(asObject(line.error).message) || asText(line.error) || 'The turn failed.'))
        default:
          return [] // a top-level error, "Reconnecting... 2/5" for one, is not fatal: turn.failed is
      }
    },
    errorLine(text) {
      const line = cut(text)
      return isDead(line) ? deadSession(line) : []
    },
  }

  function onThread(line: Json): Fact[] {
    const id = asSessionId(line.thread_id)
    if (!id || id === announced) return []
    if (id !== thread) before = NOTHING // another thread than the one to resume counts from zero
    thread = id
    announced = id
    return [{ kind: 'session', id }]
  }

  function onItem(item: Json): Fact[] {
    const text = asText(item.text)
    return item.type === 'agent_message' && text.trim() ? [{ kind: 'text', text: cut(text) }] : []
  }

  function onUsage(usage: Json): Fact[] {
    const cached = asCount(usage.cached_input_tokens)
    const whole: UsageTotals = {
      inputTokens: Math.max(0, asCount(usage.input_tokens) - cached), // input_tokens include the cached ones
      cachedInputTokens: cached,
      outputTokens: asCount(usage.output_tokens), // includes reasoning_output_tokens
      costUsd: null,
    }
    if (whole.inputTokens + whole.cachedInputTokens + whole.outputTokens === 0) return []
    const use = isBelow(whole, before) ? whole : minus(whole, before)
    const costUsd = estimateCost(model, use)
    const costStatus = costUsd === null ? 'unpriced' : 'estimated'
    return [
      { kind: 'usage', provider: 'openai', model, costStatus, ...use, costUsd },
      { kind: 'totals', totals: Object.fromEntries([[model, whole]]) },
    ]
  }

  function onFailure(message: string): Fact[] {
    if (isDead(message)) return deadSession(message)
    if (isUsageLimit(message)) {
      const until = resetTime(message, now())
      return [
        { kind: 'rate_limited', until },
        { kind: 'outcome', ok: false, code: 'rate_limited', message },
      ]
    }
    return [{ kind: 'outcome', ok: false, code: 'turn_failed', message }]
  }

  function isDead(text: string): boolean {
    return run.session !== null && /\bno (?:archived )?rollout found\b|\bthread not found\b/i.test(text)
  }
}

/** A thread's figures never shrink: where they did, they are not cumulative ones. */
const isBelow = (whole: UsageTotals, before: UsageTotals): boolean =>
  whole.inputTokens + whole.cachedInputTokens < before.inputTokens + before.cachedInputTokens ||
  whole.outputTokens < before.outputTokens
