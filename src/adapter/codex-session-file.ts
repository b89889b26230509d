import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { UsageTotals } from './adapter.ts'
import { openTail, type Tail } from './tail.ts'
import { asCount, asObject, asText, cut, type Json, parseLine } from './usage.ts'

/** The handlers of a session file's content. */
export interface SessionEvents {
  /** Receives the model of the calls that follow. */
  onModel(model: string): void
  /** Receives the cumulative tokens of the whole thread, after each call of the model. */
  onTotal(total: UsageTotals): void
}

/** Returns the folder in which `codex` stores its state, or null if the environment does not define one. */
export const codexHome = (env: Readonly<Record<string, string>>): string | null =>
  env.CODEX_HOME || (env.HOME ? path.join(env.HOME, '.codex') : null)

/**
 * Finds the file of a thread: `sessions/2026/11/22/rollout-<time>-<thread>.jsonl`.
 * It searches the newest days first, because a new thread is from today.
 */
export function findSessionFile(home: string, thread: string): string | null {
  const find = (folder: string, depth: number): string | null => {
    const entries = readFolder(folder)
    const file = entries.find((entry) => entry.isFile() && entry.name.endsWith(`${thread}.jsonl`))
    if (file) return path.join(folder, file.name)
    if (depth === 0) return null
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    for (const name of folders.sort().reverse()) {
      const found = find(path.join(folder, name), depth - 1)
      if (found) return found
    }
    return null
  }
  return find(path.join(home, 'sessions'), 3)
}

/** Opens the file in which `codex` stores a thread. Only this file contains token counts during a turn. */
export const openSessionFile = (file: string, from: number, events: SessionEvents): Tail =>
  openTail(file, from, (text) => {
    // Most lines have no token counts. A search for these words is much faster than parsing JSON.
    if (WITH_USAGE.test(text)) onLine(parseLine(text) ?? {}, file, events)
  })

const WITH_USAGE = /"(?:token_count|token_usage_record|turn_context)"/

/**
 * Reads the total usage of the thread. `codex` writes it to `token_usage_record`
 * after each response of the model, and to `token_count` after each tool call.
 * Older versions write only `token_count`.
 */
function onLine(line: Json, file: string, events: SessionEvents): void {
  const payload = asObject(line.payload)
  if (line.type === 'turn_context') {
    const model = cut(asText(payload.model), 200)
    if (model) events.onModel(model)
  }
  if (line.type === 'token_usage_record') {
    // A file can begin with a copy of another thread, which has records of that thread.
    const isOwn = file.endsWith(`${asText(payload.thread_id) || '?'}.jsonl`)
    if (isOwn && payload.thread_token_usage) events.onTotal(codexTokens(asObject(payload.thread_token_usage)))
  }
  if (line.type !== 'event_msg' || payload.type !== 'token_count') return
  const total = asObject(payload.info).total_token_usage
  if (total) events.onTotal(codexTokens(asObject(total)))
}

/** Parses token counts of `codex`: its input includes cached tokens, and its output includes reasoning. */
export function codexTokens(usage: Json): UsageTotals {
  const cached = asCount(usage.cached_input_tokens)
  return {
    inputTokens: Math.max(0, asCount(usage.input_tokens) - cached),
    cachedInputTokens: cached,
    outputTokens: asCount(usage.output_tokens),
    costUsd: null,
  }
}

function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
