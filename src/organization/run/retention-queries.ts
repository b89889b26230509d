import type { Db } from '../../platform/database/db.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import type { RunRow } from './run.ts'

/** A position in the order of the ends of runs. */
export type EndCursor = Pick<RunRow, 'id'> & { finished_at: string | null }

/** The position before the first run that ended. */
export const FIRST_END: EndCursor = { finished_at: '', id: '' }

const isAfter = (cursor: EndCursor) => raw<boolean>`(finished_at, id) > (${cursor.finished_at}, ${cursor.id})`

// SQLite uses a partial index only if the condition is a literal, not a parameter.
const IS_UNMEASURED = raw<boolean>`finished_at is not null and log_bytes is null`
const IS_KEPT = raw<boolean>`log_bytes > 0 and log_deleted_at is null`

/** Lists ended runs without a recorded log size. */
export const listUnmeasuredLogs = (db: Db, of: { limit: number }): string[] =>
  // Without the order, SQLite searches all ended runs: 45 ms with 100,000 of them.
  db.all(sql.selectFrom('run').select('id').where(IS_UNMEASURED).orderBy('id').limit(of.limit)).map(({ id }) => id)

/** Stores the size of the log of an ended run, in bytes. */
export const setLogBytes = (db: Db, of: { id: string; bytes: number }) =>
  db.run(sql.updateTable('run').set({ log_bytes: of.bytes }).where('id', '=', of.id).where(IS_UNMEASURED))

/** Lists the logs of ended runs after a position, in the order of their ends. */
export const listKeptLogs = (db: Db, of: { after: EndCursor; limit: number }) =>
  db.all(
    sql
      .selectFrom('run')
      .select(['id', 'finished_at', 'log_bytes'])
      .where(IS_KEPT)
      .where(isAfter(of.after))
      .orderBy('finished_at')
      .orderBy('id')
      .limit(of.limit),
  )

/** Records that the logs of runs are deleted. Returns the ids of the runs that still had a log. */
export const markLogsDeleted = (db: Db, of: { ids: readonly string[]; at: string }): string[] =>
  db
    .all(
      sql
        .updateTable('run')
        .set({ log_deleted_at: of.at })
        .where('id', 'in', of.ids)
        .where(IS_KEPT)
        .where('finished_at', 'is not', null)
        .returning('id'),
    )
    .map(({ id }) => id)

/** Lists ended runs after a position, in the order of their ends. */
export const listEndedRuns = (db: Db, of: { before: string; after: EndCursor; limit: number }) =>
  db.all(
    sql
      .selectFrom('run')
      .select(['id', 'finished_at'])
      .where('finished_at', 'is not', null)
      .where('finished_at', '<', of.before)
      .where(isAfter(of.after))
      .orderBy('finished_at')
      .orderBy('id')
      .limit(of.limit),
  )

/** The columns that refer to runs. A test compares the list with the schema. */
export const RUN_REFERENCES = [
  ['approval_comment', 'created_by_run_id'],
  ['asset', 'created_by_run_id'],
  ['comment', 'created_by_run_id'],
  ['cost_event', 'run_id'],
  ['document_revision', 'created_by_run_id'],
  ['interaction', 'created_by_run_id'],
  ['issue', 'created_by_run_id'],
  ['run', 'retry_of_run_id'],
  ['wake', 'retry_of_run_id'],
] as const

const IS_REFERENCED = raw<boolean>`(${raw.join(
  [
    // The start and the end of each run are entries too.
    raw`exists (select 1 from activity where run_id = run.id and entity_id <> run.id)`,
    ...RUN_REFERENCES.map(
      ([table, column]) =>
        raw`exists (select 1 from ${raw.table(table)} as referring where referring.${raw.ref(column)} = run.id)`,
    ),
  ],
  raw` or `,
)})`

/**
 * Deletes the given runs that have ended and have no references. The activity of
 * their start and end does not count as a reference. Updates the daily totals.
 *
 * @returns the ids of the deleted runs
 */
export function deleteUnreferencedRuns(db: Db, of: { ids: readonly string[] }): string[] {
  const deleted = db.all(
    sql
      .deleteFrom('run')
      .where('id', 'in', of.ids)
      .where('finished_at', 'is not', null)
      .where(({ not }) => not(IS_REFERENCED))
      .returning(['id', 'company_id', 'agent_id', 'adapter_type', 'status', 'created_at', 'idle']),
  )
  for (const run of deleted) {
    db.run(
      sql
        .updateTable('run_total')
        .set({ n: raw<number>`n - 1`, idle: raw<number>`idle - ${run.idle === 1 ? 1 : 0}` })
        .where('company_id', '=', run.company_id)
        .where('day', '=', run.created_at.slice(0, 10))
        .where('agent_id', '=', run.agent_id)
        .where('adapter_type', '=', run.adapter_type)
        .where('status', '=', run.status),
    )
  }
  return deleted.map(({ id }) => id)
}
