import type { Database as Sqlite } from 'better-sqlite3'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { createDb, type Db } from './database/db.ts'
import { watchFiles } from './database/presence.ts'
import { createReader, type Reader } from './database/reader.ts'
import { createWriteQueue, type Effect } from './database/write-queue.ts'
import { AppError } from './errors.ts'
import { createEvents, type Events } from './events.ts'
import type { Log } from './log.ts'
import { createSignals, type Signals } from './signals.ts'
import type { Vault } from './vault.ts'

/** The dependencies of a use case. */
export interface Context {
  db: Db
  /** Runs reads that can take long in another thread. */
  reader: Reader
  config: Config
  log: Log
  events: Events
  /** Notifies the executor and the scheduler of stops, wakes and budgets. */
  signals: Signals
  /**
   * What the writes of this server left in the database, by key, for a later
   * write that would otherwise read it back. Each rollback empties it.
   */
  lastWritten: Map<string, string>
  /** Encrypts and decrypts values that the database stores encrypted. */
  vault: Vault
  /** The current time, ISO 8601 UTC with milliseconds. It is constant within a write. */
  readonly now: string
  /**
   * Runs a synchronous change in a transaction and resolves once it is
   * durable. Use cases that change something are called inside one. `change`
   * may run twice, so it must change nothing but the database.
   */
  write<T>(change: () => T): Promise<T>
  /** Runs an effect after the current write is durable. A write that is rolled back drops its effects. */
  afterCommit(effect: Effect): void
}

export interface ContextParts {
  sqlite: Sqlite
  clock: Clock
  config: Config
  log: Log
  vault: Vault
}

/**
 * @returns the context; `flush`, which commits the queued writes at once; and `checkFiles`, which throws if the files
 *   of the database are no longer those that were opened
 */
export function createContext({
  sqlite,
  clock,
  config,
  log,
  vault,
}: ContextParts): Context & { flush(): void; checkFiles(): void } {
  const db = createDb(sqlite)
  const lastWritten = new Map<string, string>()
  const checkFiles = watchFiles(sqlite.name)
  const queue = createWriteQueue(sqlite, {
    endReads: db.endReads,
    beforeCommit: checkFiles,
    onRollback: () => lastWritten.clear(),
    alwaysReplay: config.selfCheck,
  })
  const logFailure = (message: string) => (error: unknown) =>
    log.error(message, { stack: String((error as Error)?.stack ?? error) })
  let current: { now: string; afterCommit: (effect: Effect) => void } | undefined
  return {
    db,
    reader: createReader(sqlite.name),
    config,
    log,
    events: createEvents(clock.now(), logFailure('A listener of the live events failed.')),
    signals: createSignals(logFailure('A handler of a signal failed.')),
    lastWritten,
    vault,
    get now() {
      return current?.now ?? clock.now().toISOString()
    },
    write: (change) =>
      config.readOnly
        ? Promise.reject(new AppError('read_only', 'This server shows a backup and changes nothing.'))
        : queue.write((afterCommit) => {
            current = { now: clock.now().toISOString(), afterCommit }
            try {
              return change()
            } finally {
              current = undefined
            }
          }),
    afterCommit(effect) {
      if (!current) throw new Error('afterCommit must be called inside a write.')
      current.afterCommit(() => {
        try {
          effect()
        } catch (error) {
          // The write is durable and its response is sent, even if one of its effects fails.
          log.error('An effect of a write failed.', { stack: String((error as Error).stack ?? error) })
        }
      })
    },
    flush: queue.flush,
    checkFiles,
  }
}

/** Derives a context whose writes run as `wrap` returns them, in the same transaction. */
export function withWrites(ctx: Context, wrap: <T>(change: () => T) => () => T): Context {
  const write: Context['write'] = (change) => ctx.write(wrap(change))
  // The descriptors are copied, because `now` is a getter.
  return Object.defineProperties({} as Context, { ...Object.getOwnPropertyDescriptors(ctx), write: { value: write } })
}
