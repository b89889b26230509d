import type { Database as Sqlite } from 'better-sqlite3'

/**
 * The number of index pages that one step writes, in about 3 ms. A step starts
 * only while there are two segments of one size ('usermerge' in schema.sql).
 */
const PAGES_OF_A_STEP = 8

/**
 * The smaller segments are merged into the largest one when they have this share
 * of its size. An index of 100,000 issues is then written again for each 6,000
 * new ones, in steps that take 1.5 s together.
 */
const MAX_SHARE_OF_SMALL = 1 / 16

/** The time without a write before the merge starts, in milliseconds. */
const QUIET_MS = 1_000

const TABLES = ['issue_text', 'comment_text'] as const

/**
 * Creates a function that merges a few pages of the full-text indexes, and
 * returns false if nothing is left to merge. Each commit adds a segment to an
 * index, and FTS5 merges sixteen of one size at a time (schema.sql). A search
 * looks each word up in every segment: with 18 segments, 100,000 issues took
 * it 150 microseconds a word, with one 15. Two segments take more than twice as
 * long as one, because SQLite plans the statement that finds the page of a word
 * again when the segment changes.
 */
export function createTextMerger(sqlite: Sqlite): () => boolean {
  const changes = changesOf(sqlite)
  const steps = TABLES.map((table) => {
    const merge = sqlite.prepare(`insert into ${table} (${table}, rank) values ('merge', ?)`)
    const sizes = sqlite.prepare(`select count(*) from ${table}_idx group by segid order by 1 desc`).pluck()
    const run = (pages: number) => {
      const before = changes()
      merge.run(pages)
      // FTS5 documents this: a merge that did nothing counts as one change.
      return changes() - before >= 2
    }
    const hasManySmall = () => {
      const [largest = 0, ...small] = sizes.all() as number[]
      return small.reduce((sum, size) => sum + size, 0) > largest * MAX_SHARE_OF_SMALL
    }
    // A negative number begins to merge all segments, and the next steps continue that.
    return () => run(PAGES_OF_A_STEP) || (hasManySmall() && run(-PAGES_OF_A_STEP))
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
