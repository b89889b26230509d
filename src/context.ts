import type { Database as Sqlite } from 'better-sqlite3'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { createDb, type Db } from './database/db.ts'
import { createWriteQueue, type Effect } from './database/write-queue.ts'
import { createEvents, type Events } from './events.ts'
import type { Log } from './log.ts'
import type { RunTokens } from './run/token.ts'

/** What a use case may touch. */
export interface Context {
  db: Db
  config: Config
  log: Log
  events: Events
  /** Makes and checks run tokens. */
  tokens: RunTokens
  /** The moment, ISO 8601 UTC with milliseconds; inside a write the same for all of it. */
  readonly now: string
  /**
   * Runs a synchronous change in a transaction and resolves once it is
   * durable; see `createWriteQueue`. Use cases that change something are
   * called inside one.
   */
  write<T>(change: () => T): Promise<T>
  /** Lets something happen once the current write is durable; drops it if the write is rolled back. */
  afterCommit(effect: Effect): void
}

export interface ContextParts {
  sqlite: Sqlite
  clock: Clock
  config: Config
  log: Log
  tokens: RunTokens
}

/** @returns the context, and `flush`, which commits at once what is queued (for a stop). */
export function createContext({ sqlite, clock, config, log, tokens }: ContextParts): Context & { flush(): void } {
  const db = createDb(sqlite)
  const queue = createWriteQueue(sqlite, db.endReads)
  let current: { now: string; afterCommit: (effect: Effect) => void } | undefined
  return {
    db,
    config,
    log,
    events: createEvents(clock.now()),
    tokens,
    get now() {
      return current?.now ?? clock.now().toISOString()
    },
    write: (change) =>
      queue.write((afterCommit) => {
        current = { now: clock.now().toISOString(), afterCommit }
        try {
          return change()
        } finally {
          current = undefined
        }
      }),
    afterCommit(effect) {
      if (!current) throw new Error('afterCommit belongs inside a write.')
      current.afterCommit(() => {
        try {
          effect()
        } catch (error) {
          // What was written stands and is answered, whatever an effect makes of it.
          log.error('An effect of a write failed.', { stack: String((error as Error).stack ?? error) })
        }
      })
    },
    flush: queue.flush,
  }
}
