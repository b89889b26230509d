import type { Database as Sqlite } from 'better-sqlite3'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { checkpointJob, createCheckpointer } from './database/checkpoint.ts'
import { createDb, type Db } from './database/db.ts'
import { createLongWriter, type LongChange } from './database/long-write.ts'
import { watchFiles } from './database/presence.ts'
import { createReader, type Reader } from './database/reader.ts'
import { createTextIndexer } from './database/text-index.ts'
import { createWriteQueue, type Effect } from './database/write-queue.ts'
import { AppError } from './errors.ts'
import { createEvents, type Events } from './events.ts'
import type { Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createSignals, type Signals } from './signals.ts'
import type { Tracer } from './tracer.ts'
import type { Vault } from './vault.ts'

/** The dependencies of a use case that only reads. The reader's threads have no others. */
export type ReadContext = Pick<Context, 'db'>

/** The dependencies of a use case. */
export interface Context {
  db: Db
  /** Runs reads that can take long in another thread. */
  reader: Reader
  config: Config
  log: Log
  events: Events
  /** The metrics of the server. */
  metrics: Metrics
  /** Sends traces, if tracing is on. Set by the server. */
  tracer?: Tracer
  /** Notifies the executor and the scheduler of stops, wakes and budgets. */
  signals: Signals
  /**
   * Values that this server wrote to the database, by key. A later write uses
   * them instead of a query. Each rollback clears them.
   */
  lastWritten: Map<string, string>
  /** Encrypts and decrypts values that the database stores encrypted. */
  vault: Vault
  /**
   * Opens the socket on which only runs are served, and returns its path. Ssh
   * placements forward it to their machine. Set by the server.
   */
  openRunSocket?: () => Promise<string>
  /** The current time, ISO 8601 UTC with milliseconds. It is constant within a write. */
  readonly now: string
  /**
   * Runs a synchronous change in a transaction and resolves once it is
   * durable. Use cases that change something are called inside one. `change`
   * may run twice, so it must modify only the database.
   */
  write<T>(change: () => T): Promise<T>
  /**
   * Runs a change of thousands of rows like `write`, in slices, so that other
   * requests do not wait. The change receives a separate context. Only the `db`
   * of that context reads the uncommitted data of the change.
   */
  writeLong<T>(change: (ctx: Context) => LongChange<T>): Promise<T>
  /** Resolves if the last write had no fault of the disk or the file. Otherwise tries a write, which throws the AppError of the fault. */
  checkWrites(): Promise<void>
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

/** The methods of a context that only the composition root uses. */
export interface OwnedContext extends Context {
  /** Aborts the current long change and commits the queued writes immediately. Called when the server stops. */
  flush(): void
  /** Resolves when another connection may write without waiting for a long change. */
  untilFree(): Promise<void>
  /** Throws if the files of the database are no longer those that were opened. */
  checkFiles(): void
}

export function createContext({ sqlite, clock, config, log, vault }: ContextParts): OwnedContext {
  const db = createDb(sqlite)
  const lastWritten = new Map<string, string>()
  const checkFiles = watchFiles(sqlite.name)
  const { indexAll } = createTextIndexer(sqlite)
  const metrics = createMetrics()
  const reader = createReader(sqlite.name)
  const checkpoint = () => reader.runApart(checkpointJob, sqlite.name)
  const startCheckpoint = createCheckpointer(sqlite, checkpoint)
  const queue = createWriteQueue(sqlite, {
    onBatch(writes, seconds) {
      metrics.countBatch(writes, seconds)
      startCheckpoint()
    },
    endReads: db.endReads,
    beforeCommit() {
      indexAll()
      checkFiles()
    },
    onRollback: () => lastWritten.clear(),
    alwaysReplay: config.selfCheck,
  })
  const longWriter = createLongWriter(sqlite.name, queue, {
    beforeCommit: checkFiles,
    onCommit: () => lastWritten.clear(),
    checkpoint,
  })
  const logFailure = (message: string) => (error: unknown) =>
    log.error(message, { stack: String((error as Error)?.stack ?? error) })
  let current: { now: string; afterCommit: (effect: Effect) => void } | undefined
  /** The write is durable and its response is sent, even if an effect of it fails. */
  const guarded = (effect: Effect): Effect => {
    return () => {
      try {
        effect()
      } catch (error) {
        log.error('An effect of a write failed.', { stack: String((error as Error).stack ?? error) })
      }
    }
  }
  const ctx: OwnedContext = {
    db,
    reader,
    config,
    log,
    events: createEvents(clock.now(), logFailure('A listener of the live events failed.')),
    metrics,
    signals: createSignals(logFailure('A handler of a signal failed.')),
    lastWritten,
    vault,
    get now() {
      return current?.now ?? clock.now().toISOString()
    },
    write: (change) =>
      config.readOnly
        ? refuseReadOnly()
        : queue.write((afterCommit) => {
            current = { now: clock.now().toISOString(), afterCommit }
            try {
              return change()
            } finally {
              current = undefined
            }
          }),
    checkWrites: queue.check,
    afterCommit(effect) {
      if (!current) throw new Error('afterCommit must be called inside a write.')
      current.afterCommit(guarded(effect))
    },
    writeLong: (change) =>
      config.readOnly
        ? refuseReadOnly()
        : longWriter.write((ownDb, afterCommit) =>
            change(
              derive(ctx, {
                db: ownDb,
                lastWritten: new Map(),
                now: clock.now().toISOString(),
                afterCommit: (effect) => afterCommit(guarded(effect)),
              }),
            ),
          ),
    flush() {
      longWriter.close()
      queue.flush()
    },
    untilFree: queue.untilFree,
    checkFiles,
  }
  return ctx
}

const refuseReadOnly = () =>
  Promise.reject(new AppError('read_only', 'This server was started with --read-only and refuses all changes.'))

/** How `withWrites` changes the writes of a context. Both run in the transaction of the change. */
export interface WriteWrapper {
  write<T>(ctx: Context, change: () => T): T
  writeLong<T>(ctx: Context, change: LongChange<T>): LongChange<T>
}

/** Derives a context whose writes run as `wrap` runs them. */
export const withWrites = (ctx: Context, wrap: WriteWrapper): Context =>
  derive(ctx, {
    write: (change) => ctx.write(() => wrap.write(ctx, change)),
    writeLong: (change) => ctx.writeLong((own) => wrap.writeLong(own, change(own))),
  })

/** Copies a context with other members. The descriptors are copied, because `now` is a getter. */
const derive = (ctx: Context, members: Partial<Context>): Context =>
  Object.defineProperties({} as Context, {
    ...Object.getOwnPropertyDescriptors(ctx),
    ...Object.getOwnPropertyDescriptors(members),
  })
