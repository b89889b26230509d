import path from 'node:path'
import type { SessionStore } from './adapter.ts'
import { createSearchPauses, followFiles, listFolder, openTail, sizeOf } from './tail.ts'
import { asCount, asObject, asText, cut, type Json, parseLine } from './usage.ts'
import type { MessageUsage, UsageLedger } from './usage-ledger.ts'

/**
 * Finds the sessions of `gemini`, or null if the environment does not define their folder.
 *
 * @param env the environment of the program
 * @param isResumed whether the present messages of the session belong to earlier runs
 */
export function findGeminiSessions(
  env: Readonly<Record<string, string>>,
  session: string,
  { isResumed }: { isResumed: boolean },
): SessionStore | null {
  const home = env.GEMINI_CLI_HOME || env.HOME
  const root = env.SANDBOX_STATE_DIR ? path.join(env.SANDBOX_STATE_DIR, 'tmp') : home && path.join(home, '.gemini/tmp')
  if (!root) return null
  const folder = isResumed ? findFolder(root, session) : null
  const files = folder ? listFiles(folder, session) : []
  const before = Object.fromEntries(files.map((file) => [file, sizeOf(file)]))
  return { program: 'gemini', path: root, session, before }
}

/**
 * Follows the files in which `gemini` records a session and its sub-agents. Each
 * message of a model has its tokens and the model's name; the output contains
 * tokens only at the end. The files omit the calls with which the program
 * chooses a model.
 */
export function followGeminiSession({ path: root, session, before }: SessionStore, ledger: UsageLedger) {
  const earlier = new Set<string>()
  let folder: string | null = null
  let isSearchDue = createSearchPauses()
  let isEnd = false

  const onMessage = (take: (id: string, line: Json) => void) => (text: string) => {
    const line = text.includes('"tokens"') ? parseLine(text) : null
    const id = asText(line?.id)
    if (line?.tokens && id) take(id, line)
  }
  for (const [file, size] of Object.entries(before)) {
    const past = onMessage((id) => earlier.add(id))
    openTail(file, 0, past, size).read()
  }
  const files = followFiles(
    () => {
      if (!folder && isSearchDue(isEnd)) folder = findFolder(root, session)
      return folder ? listFiles(folder, session) : []
    },
    // A resumed session has a file of its own, which may repeat earlier messages.
    onMessage((id, line) => {
      if (!earlier.has(id)) ledger.set(id, usageOf(line))
    }),
    (file) => before[file] ?? 0,
  )
  return {
    /** Notes that the program has begun the session, so that its files appear within moments. */
    begin() {
      isSearchDue = createSearchPauses()
    },
    /** @param isLast whether it is the last call */
    read(isLast: boolean) {
      isEnd = isLast
      files.read()
    },
  }
}

const isFileOf = (session: string) => (name: string) => name.endsWith(`-${session.slice(0, 8)}.jsonl`)

/** Finds the folder `<project>/chats` of a session. */
function findFolder(root: string, session: string): string | null {
  const folders = listFolder(root).map((project) => path.join(root, project, 'chats'))
  return folders.find((chats) => listFolder(chats).some(isFileOf(session))) ?? null
}

/** Lists `session-<time>-<start of the id>.jsonl`, of which each resumption adds one, and `<id>/<sub-agent>.jsonl`. */
function listFiles(chats: string, session: string): string[] {
  const own = listFolder(chats).filter(isFileOf(session))
  const subagents = path.join(chats, session)
  const names = listFolder(subagents).filter((name) => name.endsWith('.jsonl'))
  return [...own.map((name) => path.join(chats, name)), ...names.map((name) => path.join(subagents, name))]
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
