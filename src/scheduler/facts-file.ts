import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Fact } from '../adapter/adapter.ts'
import { FACTS_FILE } from './shim-protocol.ts'

/** The last fact of each kind that a run told (of each model, for usage): small, whatever the run. */
export interface FactsFile {
  add(facts: readonly Fact[]): void
  /** Writes what is new at once. */
  flush(): void
}

/** How soon a fact is on disk, in milliseconds: a budget is enforced by it, so it is short. */
const FLUSH_MS = 50

export function createFactsFile(folder: string): FactsFile {
  const facts = new Map<string, Fact>()
  let timer: NodeJS.Timeout | undefined

  function flush() {
    clearTimeout(timer)
    if (timer) writeAtomically(path.join(folder, FACTS_FILE), JSON.stringify([...facts.values()]))
    timer = undefined
  }

  return {
    add(added) {
      for (const fact of added) facts.set(keyOf(fact), fact)
      if (added.length > 0) timer ??= setTimeout(flush, FLUSH_MS)
    },
    flush,
  }
}

const keyOf = (fact: Fact) => (fact.kind === 'usage' ? `usage ${fact.provider} ${fact.model}` : fact.kind)

/** What a run has told so far; empty before it told anything. */
export function readFacts(folder: string): Fact[] {
  try {
    return JSON.parse(readFileSync(path.join(folder, FACTS_FILE), 'utf8')) as Fact[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** A reader sees the whole old text or the whole new one. */
export function writeAtomically(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
