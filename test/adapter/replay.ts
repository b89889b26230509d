import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Fact, SessionState, UsageTotals } from '../../src/adapter/adapter.ts'
import { adapterOf } from '../../src/adapter/registry.ts'

const AGENTS = new URL('../agents/', import.meta.url)

export const agent = (name: string): string => fileURLToPath(new URL(name, AGENTS))

/** The adapter of each program whose streams were recorded. */
const TYPES: Record<string, string> = {
  claude: 'runtimeA_local',
  codex: 'runtimeB_local',
  gemini: 'gemini_local',
  opencode: 'opencode_local',
}

/**
 * Reads a recorded stream with the reader of its adapter. Returns the facts and the exit code. The files have the
 * format of replay.mjs, which prints them as a program.
 */
export function replay(
  stream: string,
  { session = null, model }: { session?: SessionState | null; model?: string } = {},
): { facts: Fact[]; exitCode: number } {
  const adapter = adapterOf(TYPES[stream.split('-')[0]!]!)!
  const reader = adapter.reader(model ? { model } : {}, { session, newSessionId: 'a-fresh-id' })
  const facts: Fact[] = []
  let exitCode = 0
  for (const line of readFileSync(agent(`streams/${stream}.jsonl`), 'utf8').split('\n')) {
    const [, word, rest = ''] = /^!(stderr|exit|half) (.*)$/.exec(line) ?? []
    if (word === 'exit') exitCode = Number(rest)
    else facts.push(...(word === 'stderr' ? reader.errorLine(rest) : reader.line(word ? rest : line)))
  }
  return { facts, exitCode }
}

/** Returns the result after each snapshot replaces the previous one. */
export function mergeFacts(facts: Fact[]) {
  const last = <Kind extends Fact['kind']>(kind: Kind) =>
    facts.filter((fact): fact is Extract<Fact, { kind: Kind }> => fact.kind === kind).at(-1)
  const usage = new Map<string, UsageTotals & { costStatus: string }>()
  for (const fact of facts) {
    if (fact.kind !== 'usage') continue
    const { kind: _, provider: __, model, ...use } = fact
    usage.set(model, use)
  }
  const outcome = last('outcome')
  return {
    session: last('session')?.id ?? null,
    text: last('text')?.text ?? null,
    dead: last('dead_session') !== undefined,
    limited: last('rate_limited')?.until,
    retrying: last('retrying')?.text,
    gaveUp: last('give_up') !== undefined,
    refused: last('refused_tools')?.count ?? 0,
    outcome: outcome ? (outcome.ok ? 'ok' : outcome.code) : null,
    message: outcome?.message ?? null,
    usage: Object.fromEntries(usage),
    totals: last('totals')?.totals ?? null,
  }
}

export const use = (input: number, cached: number, output: number, costUsd: number | null): UsageTotals => ({
  inputTokens: input,
  cachedInputTokens: cached,
  outputTokens: output,
  costUsd,
})
