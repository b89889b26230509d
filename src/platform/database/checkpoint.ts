import Database, { type Database as Sqlite } from 'better-sqlite3'
import type { ReadJob } from './reader.ts'
import { isDatabaseFault } from './write-queue.ts'

/**
 * Copies the write-ahead log into the database file, in a thread. Neither reads
 * nor writes wait for it.
 */
export const checkpointJob: ReadJob<string, undefined> = {
  name: 'checkpoint',
  thread: 'packages',
  run(_, file) {
    const sqlite = new Database(file, { fileMustExist: true })
    try {
      sqlite.pragma('wal_checkpoint(passive)')
    } finally {
      sqlite.close()
    }
    return undefined
  },
}

/** The number of pages in the write-ahead log at which a checkpoint starts: 4 MB. */
const START_PAGES = 1_000

/** The length of the log is read once in so many commits: reading it takes 20 to 100 microseconds. */
export const COMMITS = 16

/**
 * Creates the function that starts a checkpoint if the write-ahead log is long
 * and none runs. Call it after each commit, outside a transaction. While writes go on, the thread never
 * reaches the end of the log; the automatic checkpoint of SQLite (open.ts) then
 * copies the few pages that are left, and the log begins again.
 *
 * @param checkpoint runs `checkpointJob`
 */
export function createCheckpointer(sqlite: Sqlite, checkpoint: () => Promise<unknown>): () => void {
  const progress = sqlite.prepare<[], { log: number; checkpointed: number }>('pragma wal_checkpoint(noop)')
  let isRunning = false
  let commits = 0

  /** The commit stands, even if the disk fails now. The next write reports the fault. */
  function waitingPages(): number {
    try {
      const { log, checkpointed } = progress.get()!
      return log - checkpointed
    } catch (error) {
      if (!isDatabaseFault(error)) throw error
      return 0
    }
  }

  return () => {
    if (isRunning || ++commits % COMMITS !== 0 || waitingPages() < START_PAGES) return
    isRunning = true
    const end = () => {
      isRunning = false
    }
    // If it fails, the next one or SQLite does the same.
    checkpoint().then(end, end)
  }
}
