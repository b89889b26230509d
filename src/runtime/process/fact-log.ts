import { closeSync, openSync, writeSync } from 'node:fs'
import type { Fact } from '../../adapter/adapter.ts'
import { readFact } from '../../adapter/fact.ts'

/**
 * Writes a run's facts as JSON lines. Facts are snapshots, so of several facts
 * with the same key within a short window, only the last is written.
 */
export interface FactLog {
  add(facts: readonly Fact[]): void
  /** Writes the facts whose window has passed. A timer writes the others. */
  flush(): void
  /** Writes all remaining facts and closes the file. */
  close(): void
}

/** In milliseconds. Budgets depend on usage, which must be recorded within 100 ms of its line. */
const WINDOW_MS = 50
/** In milliseconds. Texts are long, and no decision depends on them. */
const TEXT_WINDOW_MS = 1_000
/** Longer windows in milliseconds, for a file that has grown beyond a size in bytes. */
const SLOWER = [
  { above: 64 * 1024 * 1024, windowMs: 10_000 },
  { above: 8 * 1024 * 1024, windowMs: 1_000 },
]
/** In characters of JSON. A longer fact is dropped. */
const LONGEST_FACT = 256 * 1024
/** The limit of distinct keys, which grow with the models of a run. No program uses so many. */
const MOST_KEYS = 1_000

/** Opens the file of a run's facts for appending. */
export function openFactLog(path: string): FactLog {
  const file = openSync(path, 'a', 0o600)
  const waiting = new Map<string, string>()
  const written = new Map<string, { line: string; at: number }>()
  let size = 0
  let torn = false
  let timer: NodeJS.Timeout | undefined

  const windowOf = (key: string) => {
    const base = SLOWER.find(({ above }) => size > above)?.windowMs ?? WINDOW_MS
    return key === 'text' ? Math.max(base, TEXT_WINDOW_MS) : base
  }
  const dueAt = (key: string) => (written.get(key)?.at ?? Number.NEGATIVE_INFINITY) + windowOf(key)

  const write = (keys: string[], now: number) => {
    if (keys.length === 0) return
    const text = `${torn ? '\n' : ''}${keys.map((key) => waiting.get(key)).join('')}`
    try {
      const bytes = Buffer.from(text)
      const length = writeSync(file, bytes)
      size += length
      torn = length < bytes.length
      if (torn) return
    } catch {
      return // the disk is full, so the facts wait for the next attempt
    }
    for (const key of keys) {
      written.set(key, { line: waiting.get(key)!, at: now })
      waiting.delete(key)
    }
  }

  const flush = () => {
    const now = performance.now()
    write(
      [...waiting.keys()].filter((key) => dueAt(key) <= now),
      now,
    )
    if (waiting.size === 0 || timer) return
    const next = Math.min(...[...waiting.keys()].map(dueAt))
    timer = setTimeout(
      () => {
        timer = undefined
        flush()
      },
      Math.max(5, next - now),
    )
  }

  return {
    add(facts) {
      for (const fact of facts) {
        const key = keyOf(fact)
        const line = `${JSON.stringify(fact)}\n`
        if (line.length > LONGEST_FACT) continue
        if (!written.has(key) && !waiting.has(key) && written.size + waiting.size >= MOST_KEYS) continue
        waiting.delete(key) // moves the key to the end: the order is that of the latest facts
        if (written.get(key)?.line !== line) waiting.set(key, line)
      }
    },
    flush,
    close() {
      clearTimeout(timer)
      write([...waiting.keys()], performance.now())
      closeSync(file)
    },
  }
}

/** Parses a line. Skips a line that is not a fact, such as one that a full disk truncated: a later snapshot replaces it. */
export function parseFact(line: string): Fact[] {
  try {
    const fact = readFact(JSON.parse(line))
    return fact ? [fact] : []
  } catch {
    return []
  }
}

/** Facts with the same key replace each other. */
const keyOf = (fact: Fact): string => (fact.kind === 'usage' ? `usage ${fact.provider} ${fact.model}` : fact.kind)
