import { closeSync, openSync, writeSync } from 'node:fs'
import type { Fact } from '../../adapter/adapter.ts'

/**
 * Writes a run's facts as JSON lines. Facts are snapshots, so of those that
 * say the same thing only the last of a short while is written.
 */
export interface FactLog {
  add(facts: readonly Fact[]): void
  /** Writes what is due. The rest follows by itself. */
  settle(): void
  /** Writes what is left. */
  close(): void
}

/** A usage must be on the books within 100 ms of its line: budgets are enforced on it. */
const WINDOW_MS = 50
/** Text is for people, and long. */
const TEXT_WINDOW_MS = 1_000
/** A flood that grew the file beyond these sizes, in bytes, waits longer between two writes. */
const SLOWER = [
  { above: 64 * 1024 * 1024, windowMs: 10_000 },
  { above: 8 * 1024 * 1024, windowMs: 1_000 },
]
/** In bytes; a longer fact is no fact. */
const LONGEST_FACT = 256 * 1024
/** Different facts, that is, models: more than any program uses. */
const MOST_KEYS = 1_000

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
      return // a full disk: the facts keep waiting
    }
    for (const key of keys) {
      written.set(key, { line: waiting.get(key)!, at: now })
      waiting.delete(key)
    }
  }

  const settle = () => {
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
        settle()
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
        waiting.delete(key) // so that the order is that of the last word on each
        if (written.get(key)?.line !== line) waiting.set(key, line)
      }
    },
    settle,
    close() {
      clearTimeout(timer)
      write([...waiting.keys()], performance.now())
      closeSync(file)
    },
  }
}

/** Facts with the same key replace each other. */
const keyOf = (fact: Fact): string => (fact.kind === 'usage' ? `usage ${fact.provider} ${fact.model}` : fact.kind)
