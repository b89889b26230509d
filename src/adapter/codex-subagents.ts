import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import type { Fact, UsageTotals } from './adapter.ts'
import { createThreadMeter, type UsedByModel } from './codex-meter.ts'
import { openSessionFile } from './codex-session-file.ts'
import { listFolder, PLAIN, type Tail } from './tail.ts'
import { NOTHING } from './usage.ts'

/** A sub-agent that started longer ago than this belongs to another run, in milliseconds. */
const LONGEST_RUN_MS = 2 * 24 * 60 * 60_000

/** The size of the beginning of a file that contains the thread ids, in bytes. The instructions follow it. */
const HEAD_BYTES = 2_048

/**
 * Follows the session files of a run's sub-agents. Neither the output of `codex`
 * nor the session file of the run's own thread contains their tokens. Each file
 * begins with the id of the thread that started the sub-agent (`session_id`).
 *
 * @param used the usage of all threads of the run, to which the sub-agents add
 * @param skips the resumed thread: the usage of its sub-agents so far belongs to earlier runs
 */
export function followCodexSubagents(
  home: string,
  used: UsedByModel,
  { skips, onFacts }: { skips: string | null; onFacts(facts: Fact[]): void },
) {
  const files = new Map<string, Tail | null>()
  if (skips) search(skips, (file) => follow(file, lastTotal(file)))

  function search(thread: string, onFound: (file: string) => void): void {
    for (const file of recentFiles(path.join(home, 'sessions'))) {
      if (files.has(file)) continue
      const head = readHead(file)
      // The program creates the file shortly before it writes the first line.
      if (head === '') continue
      files.set(file, null)
      if (!file.endsWith(`${thread}.jsonl`) && head.includes(`"session_id":"${thread}"`)) onFound(file)
    }
  }

  function follow(
    file: string,
    { before, offset, model }: { before: UsageTotals; offset: number; model: string },
  ): void {
    const start = { path: file, offset, before, model, isSubagent: true }
    const meter = createThreadMeter(start, used)
    onFacts([{ kind: 'session_file', ...start }])
    const events = { onModel: meter.setModel, onTotal: (total: UsageTotals) => onFacts(meter.add(total, 'file')) }
    files.set(file, openSessionFile(file, offset, events))
  }

  return {
    /** Reads the new content of the files of a thread's sub-agents. */
    read(thread: string) {
      search(thread, (file) => follow(file, { before: NOTHING, offset: 0, model: 'default' }))
      for (const tail of files.values()) tail?.read()
    },
  }
}

/** Returns the length of a file, and the last total and model in it. */
function lastTotal(file: string) {
  let before = NOTHING
  let model = 'default'
  const tail = openSessionFile(file, 0, {
    onModel: (name) => {
      model = name
    },
    onTotal: (total) => {
      before = total
    },
  })
  tail.read()
  return { before, offset: tail.offset(), model }
}

/** Lists the session files of the last days: `<year>/<month>/<day>/rollout-*.jsonl`. */
function recentFiles(sessions: string): string[] {
  const since = new Date(Date.now() - LONGEST_RUN_MS)
  return [0, 1, 2, 3].flatMap((days) => {
    const day = new Date(since.getTime() + days * 24 * 60 * 60_000)
    // The program names the folders by local time.
    const parts = [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0'))
    const folder = path.join(sessions, ...parts)
    return listFolder(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => path.join(folder, name))
  })
}

function readHead(file: string): string {
  let handle: number | undefined
  try {
    handle = openSync(file, PLAIN)
    if (!fstatSync(handle).isFile()) return ''
    const bytes = Buffer.alloc(HEAD_BYTES)
    return bytes.toString('utf8', 0, readSync(handle, bytes, 0, HEAD_BYTES, 0))
  } catch {
    return ''
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}
