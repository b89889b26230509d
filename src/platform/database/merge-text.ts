import type { Database as Sqlite } from 'better-sqlite3'

/**
 * The number of index pages that one step writes, in about 3 ms. A step starts
 * only while there are two segments of one size ('usermerge' in schema.sql).
 */
const PAGES_OF_A_STEP = 8

/** The time without a write before the merge starts, in milliseconds. */
const QUIET_MS = 1_000

const TABLES = ['issue_text', 'comment_text'] as const

/**
 * Creates a function that merges a few pages of the full-text indexes, and
 * returns false if nothing is left to merge. Each commit adds a segment to an
 * index, and FTS5 merges sixteen of one size at a time (schema.sql). A search
 * looks each word up in every segment: with 18 segments, 100,000 issues took
 * it 150 microseconds a word, with one 15. A second segment more than doubles
 * the time, because SQLite then plans the statement with which FTS5 finds a page again.
 */
export function createTextMerger(sqlite: Sqlite): () => boolean {
  const changes = changesOf(sqlite)
  const steps = TABLES.map((table) => {
    const merge = sqlite.prepare(`insert into ${table} (${table}, rank) values ('merge', ${PAGES_OF_A_STEP})`)
    return () => {
      const before = changes()
      merge.run()
      // FTS5 documents this: a merge that did nothing counts as one change.
      return changes() - before >= 2
    }
  })
  return () => steps.some((step) => step())
}

/**
 * Merges the full-text indexes in steps, while nothing else writes. A request
 * waits for one step at most.
 *
 * @param write runs a change as a write of the queue
 * @returns stops it
 */
export function mergeTextWhileQuiet(sqlite: Sqlite, write: (change: () => void) => Promise<void>): () => void {
  const changes = changesOf(sqlite)
  const step = createTextMerger(sqlite)
  let seen = changes()
  let isMerged = false
  let isRunning = false
  let isClosed = false

  async function merge() {
    while (!isClosed && !isMerged && seen === changes()) {
      await write(() => {
        // Another write of the batch ran before this one.
        if (seen !== changes()) return
        isMerged = !step()
        seen = changes()
      })
    }
  }

  const timer = setInterval(() => {
    if (isRunning) return
    if (seen !== changes()) {
      seen = changes()
      isMerged = false
    } else if (!isMerged) {
      isRunning = true
      const end = () => {
        isRunning = false
      }
      // If the disk fails, the next write reports it. The next quiet time continues.
      merge().then(end, end)
    }
  }, QUIET_MS)
  return () => {
    isClosed = true
    clearInterval(timer)
  }
}

/** Returns a function that counts the changes of a connection. */
function changesOf(sqlite: Sqlite): () => number {
  const changes = sqlite.prepare('select total_changes()').pluck()
  return () => changes.get() as number
}
