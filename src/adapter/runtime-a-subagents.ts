import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { openTail, type Tail } from './tail.ts'

/** Between two searches for the folder, which appears with the first sub-agent, in milliseconds. */
const SEARCH_MS = 1_000

/**
 * Follows the files in which `claude` records its sub-agents. Its output
 * repeats their messages with the output tokens of the message's start, and
 * leaves out the last one; the files have each message with its final usage.
 *
 * @param env the environment of the program
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
    /** Skips what a session holds already: the sub-agents of earlier runs. */
    skip(session: string) {
      for (const file of files(session)) tails.set(file, openTail(file, sizeOf(file), onLine))
      nextSearch = 0
    },
    read(session: string) {
      for (const file of files(session)) {
        if (!tails.has(file)) tails.set(file, openTail(file, 0, onLine))
        tails.get(file)!.read()
      }
    },
  }
}

/** `projects/<a name made of the working directory>/<session>/subagents`, once it exists. */
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
