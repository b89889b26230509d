import type { Database as Sqlite } from 'better-sqlite3'
import type { Identity } from '../access/auth/identity.ts'
import { createLocalAccess, type LocalAccess } from '../access/auth/local-access.ts'
import { createResetLinks, type ResetLinks } from '../access/auth/reset-links.ts'
import type { OneTimeLink } from '../access/auth/setup.ts'
import type { Vault } from '../access/secret/vault.ts'
import { createRateCounter, type RateCounter } from '../http/rate-limit.ts'
import type { RunTokens } from '../runtime/executor/token.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { createDb, type Db } from './database/db.ts'
import { createReader, type Reader } from './database/reader.ts'
import { createWriteQueue, type Effect } from './database/write-queue.ts'
import { createEvents, type Events } from './events.ts'
import type { Log } from './log.ts'

/** What a use case may touch. */
export interface Context {
  db: Db
  /** Runs reads that can take long, in a thread of their own. */
  reader: Reader
  config: Config
  log: Log
  events: Events
  /** Makes and checks run tokens. */
  tokens: RunTokens
  /** Passwords and sessions; only in authenticated mode. */
  identity: Identity | undefined
  /** The link that makes the first owner, until somebody used it. */
  setup: OneTimeLink | undefined
  /** The links for forgotten passwords. */
  resets: ResetLinks
  /** Who is the board in local trusted mode. */
  localAccess: LocalAccess
  /** Counts what must not be done too often. */
  rates: RateCounter
  /** Seals and opens stored secrets. */
  vault: Vault
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
  vault: Vault
  identity?: Identity | undefined
  setup?: OneTimeLink | undefined
}

/** @returns the context, and `flush`, which commits at once what is queued (for a stop). */
export function createContext({ sqlite, ...parts }: ContextParts): Context & { flush(): void } {
  const { clock, config, log, tokens, vault, identity, setup } = parts
  const db = createDb(sqlite)
  const queue = createWriteQueue(sqlite, db.endReads)
  let current: { now: string; afterCommit: (effect: Effect) => void } | undefined
  return {
    db,
    reader: createReader(sqlite.name),
    config,
    log,
    events: createEvents(clock.now()),
    tokens,
    vault,
    identity,
    setup,
    resets: createResetLinks(),
    localAccess: createLocalAccess(config),
    rates: createRateCounter(),
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
