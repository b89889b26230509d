import path from 'node:path'
import { createSearchPauses, followFiles, listFolder } from './tail.ts'
import { asCount, asObject, asText, cut, type Json, parseLine } from './usage.ts'
import type { MessageUsage, UsageLedger } from './usage-ledger.ts'

/** Returns the folder in which `gemini` stores its sessions, or null if the environment does not define one. */
function sessionsFolder(env: Readonly<Record<string, string>>): string | null {
  if (env.SANDBOX_STATE_DIR) return path.join(env.SANDBOX_STATE_DIR, 'tmp')
  const home = env.GEMINI_CLI_HOME || env.HOME
  return home ? path.join(home, '.gemini/tmp') : null
}

/**
 * Follows the files in which `gemini` records a session and its sub-agents. Each
 * message of a model has its tokens and the model's name; the output contains
 * tokens only at the end. The files omit the calls with which the program
 * chooses a model.
 *
 * @param env the environment of the program
 * @param isResumed whether the present messages of the session belong to earlier runs
 */
export function followGeminiSession(
  env: Readonly<Record<string, string>>,
  session: string,
  { isResumed, ledger }: { isResumed: boolean; ledger: UsageLedger },
) {
  const root = sessionsFolder(env)
  const earlier = new Set<string>()
  let isPast = isResumed
  let folder: string | null = null
  const isSearchDue = createSearchPauses()
  let isEnd = false

  const files = followFiles(listFiles, (text) => {
    if (!text.includes('"tokens"')) return
    const line = parseLine(text) ?? {}
    const id = asText(line.id)
    if (isPast) earlier.add(id)
    else if (id && line.tokens && !earlier.has(id)) ledger.set(id, usageOf(line))
  })
  if (isResumed) files.read()
  isPast = false
  return {
    /** @param isLast whether it is the last call */
    read(isLast: boolean) {
      isEnd = isLast
      files.read()
    },
  }

  /** Lists `chats/session-<time>-<start of the id>.jsonl`, of which each resumption adds one, and `chats/<id>/<sub-agent>.jsonl`. */
  function listFiles(): string[] {
    if (!root || (!folder && !isSearchDue(isEnd))) return []
    const isOwn = (name: string) => name.endsWith(`-${session.slice(0, 8)}.jsonl`)
    const folders = folder ? [folder] : listFolder(root).map((project) => path.join(root, project, 'chats'))
    for (const chats of folders) {
      const own = listFolder(chats).filter(isOwn)
      if (own.length === 0) continue
      folder = chats
      const subagents = path.join(chats, session)
      const names = listFolder(subagents).filter((name) => name.endsWith('.jsonl'))
      return [...own.map((name) => path.join(chats, name)), ...names.map((name) => path.join(subagents, name))]
    }
    return []
  }
}

function usageOf(line: Json): MessageUsage {
  const { input, output, cached, total } = asObject(line.tokens)
  return geminiUsage(asText(line.model) || 'default', { input, output, cached, total })
}

/**
 * Parses token counts of `gemini`: its input includes the cached tokens. Only
 * the total includes the thoughts, which are priced as output.
 */
export function geminiUsage(model: string, { input, output, cached, total }: Json): MessageUsage {
  const prompt = asCount(input)
  const cachedInputTokens = Math.min(asCount(cached), prompt)
  return {
    provider: 'google',
    model: cut(model, 200),
    inputTokens: prompt - cachedInputTokens,
    cachedInputTokens,
    outputTokens: Math.max(asCount(output), asCount(total) - prompt),
    costUsd: null,
  }
}
