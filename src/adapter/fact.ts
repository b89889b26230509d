import type { CostStatus, Fact, UsageTotals } from './adapter.ts'
import { asCount, asDollars, asObject, asSessionId, asText, cut, type Json } from './usage.ts'

/** The maximum number of models whose usage one run reports. No program uses so many. */
export const MAX_MODELS = 100

const COST_STATUSES: readonly CostStatus[] = ['reported', 'estimated', 'unpriced']

/**
 * Validates a fact of a file. A run on another machine sends this file, so it
 * may contain anything. A negative cost, for example, would lower the spend of
 * the company, and a session id is an argument of the next run.
 *
 * @returns undefined if the value is not a fact
 */
export function readFact(value: unknown): Fact | undefined {
  const fact = asObject(value)
  switch (fact.kind) {
    case 'session': {
      const id = asSessionId(fact.id)
      return id === null ? undefined : { kind: 'session', id }
    }
    case 'usage':
      return readUsage(fact)
    case 'totals':
      return { kind: 'totals', totals: readTotals(fact.totals) }
    case 'session_file': {
      const { offset, before, isSubagent } = fact
      const start = {
        path: asText(fact.path),
        offset: asCount(offset),
        before: totalsOf(before),
        model: nameOf(fact.model),
      }
      if (!start.path.startsWith('/')) return undefined
      return { kind: 'session_file', ...start, ...(isSubagent === true && { isSubagent }) }
    }
    case 'session_store': {
      const { program, path, before } = fact
      const session = asSessionId(fact.session)
      if ((program !== 'gemini' && program !== 'opencode') || session === null || !asText(path).startsWith('/'))
        return undefined
      return { kind: 'session_store', program, path: asText(path), session, before: readCounts(before) }
    }
    case 'text':
      return { kind: 'text', text: cut(asText(fact.text)) }
    case 'rate_limited':
      return { kind: 'rate_limited', until: isTime(fact.until) ? fact.until : null }
    case 'retrying':
      return { kind: 'retrying', text: textOrNull(fact.text) }
    case 'refused_tools':
      return { kind: 'refused_tools', count: asCount(fact.count) }
    case 'outcome': {
      const code = typeof fact.code === 'string' ? nameOf(fact.code) : null
      const exitCode = asCount(fact.exitCode)
      const outcome = { ok: fact.ok === true, code, message: textOrNull(fact.message) }
      return { kind: 'outcome', ...outcome, ...(exitCode > 0 && { exitCode }) }
    }
    case 'dead_session':
    case 'give_up':
      return { kind: fact.kind }
    default:
      return undefined
  }
}

function readUsage(fact: Json): Fact | undefined {
  const [provider, model] = [nameOf(fact.provider), nameOf(fact.model)]
  const costStatus = COST_STATUSES.find((status) => status === fact.costStatus)
  if (model === '' || costStatus === undefined) return undefined
  return { kind: 'usage', provider, model, costStatus, ...totalsOf(fact) }
}

const readTotals = (value: unknown): Record<string, UsageTotals> =>
  Object.fromEntries(
    Object.entries(asObject(value))
      .slice(0, MAX_MODELS)
      .map(([model, totals]) => [nameOf(model), totalsOf(totals)]),
  )

function totalsOf(value: unknown): UsageTotals {
  const { inputTokens, cachedInputTokens, outputTokens, costUsd } = asObject(value)
  return {
    inputTokens: asCount(inputTokens),
    cachedInputTokens: asCount(cachedInputTokens),
    outputTokens: asCount(outputTokens),
    costUsd: asDollars(costUsd),
  }
}

const readCounts = (value: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries(asObject(value)).map(([key, count]) => [key, asCount(count)]))

const nameOf = (value: unknown) => cut(asText(value), 200)
const textOrNull = (value: unknown) => (typeof value === 'string' ? cut(value) : null)
const isTime = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 40 && !Number.isNaN(Date.parse(value))
