import type { Db } from '../../platform/database/db.ts'
import { earlierBy, prepared, raw, sql } from '../../platform/database/sql.ts'
import type { WakeRow } from './wake.ts'

/** A literal, because SQLite uses the partial index of waiting wakes only then. */
const WAITING = raw.lit('waiting' as const)

const waitingWake = prepared((of: { agentId: string }) =>
  sql.selectFrom('wake').selectAll().where('agent_id', '=', of.agentId).where('status', '=', WAITING),
)

/** Finds the agent's waiting wake. There is at most one. */
export const findWaitingWake = (db: Db, of: { agentId: string }) => db.first(waitingWake(of))

const wakeById = prepared((key: { id: string }) => sql.selectFrom('wake').selectAll().where('id', '=', key.id))

export const findWake = (db: Db, key: { id: string }): WakeRow | undefined => db.first(wakeById(key))

type WakeStart = Omit<WakeRow, 'status' | 'dropped_reason'>

const newWake = prepared((row: WakeStart) =>
  sql
    .insertInto('wake')
    .values({
      id: row.id,
      company_id: row.company_id,
      agent_id: row.agent_id,
      reasons: row.reasons,
      issue_id: row.issue_id,
      priority: row.priority,
      not_before: row.not_before,
      retry_of_run_id: row.retry_of_run_id,
      fresh_session: row.fresh_session,
      depth: row.depth,
      created_at: row.created_at,
      updated_at: row.updated_at,
    })
    .returningAll(),
)

export const insertWake = (db: Db, row: WakeStart): WakeRow => db.first(newWake(row))!

/** The columns of a waiting wake that a later request may change. */
export type WakeMerge = Pick<
  WakeRow,
  'reasons' | 'issue_id' | 'priority' | 'not_before' | 'retry_of_run_id' | 'fresh_session' | 'depth' | 'updated_at'
>

const wakeUpdate = prepared((wake: WakeMerge & { id: string }) =>
  sql
    .updateTable('wake')
    .set({
      reasons: wake.reasons,
      issue_id: wake.issue_id,
      priority: wake.priority,
      not_before: wake.not_before,
      retry_of_run_id: wake.retry_of_run_id,
      fresh_session: wake.fresh_session,
      depth: wake.depth,
      updated_at: wake.updated_at,
    })
    .where('id', '=', wake.id),
)

/** Stores the columns of a waiting wake into which a request was merged. */
export const updateWake = (db: Db, wake: WakeMerge & { id: string }) => db.run(wakeUpdate(wake))

const claimedWake = prepared((wake: { id: string; at: string }) =>
  sql.updateTable('wake').set({ status: 'claimed', updated_at: wake.at }).where('id', '=', wake.id),
)

export const claimWake = (db: Db, wake: { id: string; at: string }) => db.run(claimedWake(wake))

/** Makes the waiting wake of an agent the start of a causal chain. */
export const resetWakeDepth = (db: Db, of: { agentId: string }) =>
  db.run(sql.updateTable('wake').set({ depth: 0 }).where('agent_id', '=', of.agentId).where('status', '=', WAITING))

/** Sets the earliest start of a waiting wake. */
export const delayWake = (db: Db, wake: { id: string; until: string }) =>
  db.run(sql.updateTable('wake').set({ not_before: wake.until }).where('id', '=', wake.id))

/** Shifts the future starts of waiting wakes back by some milliseconds. */
export const shiftWakes = (db: Db, by: { now: string; ms: number }) =>
  db.run(
    sql
      .updateTable('wake')
      .set({ not_before: earlierBy('not_before', by.ms) })
      .where('status', '=', WAITING)
      .where('not_before', '>', by.now),
  )

/** Limits the start of all waiting wakes to a latest time. */
export const boundWakes = (db: Db, to: { latest: string }) =>
  db.run(
    sql
      .updateTable('wake')
      .set({ not_before: to.latest })
      .where('status', '=', WAITING)
      .where('not_before', '>', to.latest),
  )

/** Drops the waiting wake of an agent. */
export const dropWaitingWakes = (db: Db, of: { agentId: string; reason: string; at: string }) =>
  db.run(
    sql
      .updateTable('wake')
      .set({ status: 'dropped', dropped_reason: of.reason, updated_at: of.at })
      .where('agent_id', '=', of.agentId)
      .where('status', '=', WAITING),
  )

/** Returns the next start of a waiting wake: the earliest `not_before` after now. */
export const findNextNotBefore = (db: Db, at: { now: string }): string | undefined =>
  db.first(nextNotBefore(at))?.not_before ?? undefined

const nextNotBefore = prepared((at: { now: string }) =>
  sql
    .selectFrom('wake')
    .select('not_before')
    .where('status', '=', WAITING)
    .where('not_before', '>', at.now)
    .orderBy('not_before')
    .limit(1),
)

/** Deletes claimed and dropped wakes that have not changed since a time, the oldest first. Returns their number. */
export const deleteServedWakes = (db: Db, of: { before: string; limit: number }): number =>
  db.run(
    sql.deleteFrom('wake').where('id', 'in', (eb) =>
      eb
        .selectFrom('wake')
        .select('id')
        .where(raw<boolean>`status <> 'waiting'`) // A literal, because SQLite uses the partial index only then.
        .where('updated_at', '<', of.before)
        .orderBy('updated_at')
        .limit(of.limit),
    ),
  )
