import Database from 'better-sqlite3'
import type { ReadJob } from './reader.ts'

/**
 * Copies the write-ahead log into the database file, in a thread: after a long
 * change the log has many megabytes, and the next commit on the main thread
 * would copy them. Neither reads nor writes wait for it.
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
