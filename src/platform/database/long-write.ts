import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AppError } from '../errors.ts'
import { createDb, type Db } from './db.ts'
import { configure } from './open.ts'
import { createTextIndexer } from './text-index.ts'
import { type Effect, toAppError, type WriteQueue } from './write-queue.ts'

/** A change that yields often, at least every few milliseconds. */
export type LongChange<T> = Generator<void, T>

export interface LongWriter {
  /**
   * Runs a long change as one transaction, in short slices. Other requests run
   * between the slices. They read the state before the change, and their writes
   * wait for its end. If the change throws or the server dies, the change is
   * rolled back.
   *
   * @param start receives the connection of the change, and `afterCommit`
   */
  write<T>(start: (db: Db, afterCommit: (effect: Effect) => void) => LongChange<T>): Promise<T>
  /** Rolls back the current change. */
  close(): void
}

interface LongWriterOptions {
  /** Runs before the commit. If it throws, the change is rolled back. */
  beforeCommit: () => void
  /** Runs after the commit and before the next write. */
  onCommit: () => void
  /** Copies the write-ahead log into the database file, in the background. */
  checkpoint: () => Promise<unknown>
}

/** The length of a slice, in milliseconds. Another request waits at most for one slice and one step of the change. */
const SLICE_MS = 10

/**
 * Creates the writer of long changes. A change runs on a separate connection.
 * On the main connection, reads between two slices would see a partial change.
 */
export function createLongWriter(
  file: string,
  queue: Pick<WriteQueue, 'hold'>,
  { beforeCommit, onCommit, checkpoint }: LongWriterOptions,
): LongWriter {
  let rollBack: (() => void) | undefined
  let closed = false

  async function write<T>(start: (db: Db, afterCommit: (effect: Effect) => void) => LongChange<T>): Promise<T> {
    const release = await queue.hold()
    const sqlite = new Database(file, { fileMustExist: true })
    const effects: Effect[] = []
    let isHeld = true
    const end = () => {
      if (sqlite.inTransaction) sqlite.exec('rollback')
      if (isHeld) release()
      isHeld = false
    }
    try {
      configure(sqlite)
      // A small cache writes pages to the log during the change, so that the commit has few left.
      sqlite.pragma('cache_size = -1000')
      sqlite.pragma('wal_autocheckpoint = 0')
      const db = createDb(sqlite)
      refuseIfClosed()
      sqlite.exec('begin immediate')
      rollBack = end
      const result = await inSlices(
        start(db, (effect) => effects.push(effect)),
        refuseIfClosed,
      )
      await inSlices(createTextIndexer(sqlite).inSteps(), refuseIfClosed)
      await flushWal(file)
      refuseIfClosed()
      beforeCommit()
      sqlite.exec('commit')
      onCommit()
      end()
      // If it fails, a later commit does the same.
      checkpoint().catch(() => {})
      await inSlices(run(effects), () => {})
      return result
    } catch (error) {
      throw toAppError(error)
    } finally {
      rollBack = undefined
      end()
      sqlite.close()
    }
  }

  function refuseIfClosed() {
    if (closed) throw new AppError('shutting_down', 'The server is shutting down. Retry when it runs again.')
  }

  return {
    write,
    close() {
      closed = true
      rollBack?.()
    },
  }
}

/** Runs all steps and yields to other requests after each slice. @param check called after each pause; may throw */
async function inSlices<T>(steps: Iterator<void, T>, check: () => void): Promise<T> {
  let since = performance.now()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (performance.now() - since < SLICE_MS) continue
    await nextTurn()
    check()
    since = performance.now()
  }
}

function* run(effects: readonly Effect[]): Generator<void, void> {
  for (const effect of effects) yield effect()
}

/** Syncs the write-ahead log to the disk in the background. The commit then has little left to sync. */
async function flushWal(file: string): Promise<void> {
  const wal = await open(`${file}-wal`, 'r+').catch(() => undefined)
  await wal?.datasync().finally(() => wal.close())
}
