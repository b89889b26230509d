import type { Fact, SessionFileStart, SessionStore } from './adapter.ts'
import { readSessionFileUsage } from './codex-meter.ts'
import { followGeminiSession } from './gemini-session-files.ts'
import { followOpencodeDatabase } from './opencode-database.ts'
import { createUsageLedger, type UsageLedger } from './usage-ledger.ts'

/**
 * Reads the usage of a run whose reader died from what the program itself
 * recorded. The program may have gone on for a while.
 *
 * @param facts what the reader found, in order
 * @returns further facts
 */
export function recoverUsage(facts: readonly Fact[]): Fact[] {
  const stores = facts.filter((fact) => fact.kind === 'session_store')
  // A result contains all usage, also that which the program records nowhere else.
  const isOver = facts.some((fact) => fact.kind === 'outcome')
  const store = isOver ? undefined : stores.at(-1)
  return [...readSessionFileUsage(latestStarts(facts)), ...(store ? readStore(store, facts) : [])]
}

/** Returns the latest state of each file: the run's own file, and those of its sub-agents. */
function latestStarts(facts: readonly Fact[]): SessionFileStart[] {
  const starts = facts.filter((fact) => fact.kind === 'session_file')
  return [...new Map(starts.map((start) => [start.path, start])).values()]
}

function readStore(store: SessionStore, facts: readonly Fact[]): Fact[] {
  const ledger = createUsageLedger(facts.filter((fact) => fact.kind === 'usage'))
  READERS[store.program](store, ledger)
  return ledger.facts()
}

const READERS: Record<SessionStore['program'], (store: SessionStore, ledger: UsageLedger) => void> = {
  gemini: (store, ledger) => followGeminiSession(store, ledger).read(true),
  opencode({ path, session, before }, ledger) {
    for (const { id, createdAt, usage } of followOpencodeDatabase(path).read(session))
      if (createdAt > (before.step ?? 0)) ledger.set(id, usage)
  },
}
