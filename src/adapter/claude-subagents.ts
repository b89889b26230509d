import { statSync } from 'node:fs'
import path from 'node:path'
import { followFiles, listFolder } from './tail.ts'

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
  let folder: string | null = null
  let nextSearch = 0
  let session = ''

  const files = followFiles(() => {
    if (!folder && home && performance.now() >= nextSearch) {
      folder = findFolder(path.join(home, 'projects'), session)
      nextSearch = performance.now() + SEARCH_MS
    }
    if (!folder) return []
    return listFolder(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => path.join(folder!, name))
  }, onLine)

  return {
    /** Skips the present content of the files of a session: the sub-agents of earlier runs. */
    skip(resumed: string) {
      session = resumed
      files.skip()
      nextSearch = 0
    },
    /** Reads the new lines in the files of a session. At the end of the run it always searches for them. */
    read(current: string, isEnd: boolean) {
      session = current
      if (isEnd) nextSearch = 0
      files.read()
    },
  }
}

/** Finds `projects/<name of the working directory>/<session>/subagents`, or null if it does not exist yet. */
function findFolder(projects: string, session: string): string | null {
  for (const project of listFolder(projects)) {
    const folder = path.join(projects, project, session, 'subagents')
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
  }
  return null
}
