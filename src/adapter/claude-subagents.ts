import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { openTail, type Tail } from './tail.ts'

/** The interval of searches for the folder, which the first sub-agent creates, in milliseconds. */
const SEARCH_MS = 1_000

/**
 * Follows the files in which `claude` records its sub-agents. These files
 * contain every message with its final usage. The program's output contains
 * only the output tokens of each message's start, and omits the last message.
 *
 * @param env the environment of the program
 * @param onLine receives each new line of the files
 */
export function followSubagents(env: Readonly<Record<string, string>>, onLine: (text: string) => void) {
  const home = env.CLAUDE_CONFIG_DIR || (env.HOME ? path.join(env.HOME, '.claude') : null)
  const tails = new Map<string, Tail>()
  let folder: string | null = null
  let nextSearch = 0

  const files = (session: string): string[] => {
    if (!folder && home && performance.now() >= nextSearch) {
      folder = findFolder(path.join(home, 'projects'), session)
      nextSearch = performance.now() + SEARCH_MS
    }
    if (!folder) return []
    return list(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => path.join(folder!, name))
  }

  return {
    /** Skips the present content of the files of a session: the sub-agents of earlier runs. */
    skip(session: string) {
      for (const file of files(session)) tails.set(file, openTail(file, sizeOf(file), onLine))
      nextSearch = 0
    },
    /** Reads the new lines in the files of a session. */
    read(session: string) {
      for (const file of files(session)) {
        if (!tails.has(file)) tails.set(file, openTail(file, 0, onLine))
        tails.get(file)!.read()
      }
    },
  }
}

/** Finds `projects/<name of the working directory>/<session>/subagents`, or null if it does not exist yet. */
function findFolder(projects: string, session: string): string | null {
  for (const project of list(projects)) {
    const folder = path.join(projects, project, session, 'subagents')
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
  }
  return null
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
