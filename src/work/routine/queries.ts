import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { literals, prepared, sql } from '../../platform/database/sql.ts'
import type { RoutineRunTable, RoutineTable } from '../../platform/database/tables.ts'
import { OPEN_STATUSES } from '../issue/lifecycle.ts'
import type { RoutineRow, RoutineRunRow } from './routine.ts'

export const findRoutine = (db: Db, key: { id: string }): RoutineRow | undefined =>
  db.first(sql.selectFrom('routine').selectAll().where('id', '=', key.id))

export const selectRoutines = (of: { companyId: string }) =>
  sql.selectFrom('routine').selectAll().where('company_id', '=', of.companyId)

/** Returns all routines of a company, in the order of their creation. */
export const listRoutines = (db: Db, of: { companyId: string }): RoutineRow[] =>
  db.all(selectRoutines(of).orderBy('id'))

export const insertRoutine = (db: Db, row: Insertable<RoutineTable>): RoutineRow =>
  db.first(sql.insertInto('routine').values(row).returningAll())!

export const updateRoutineRow = (db: Db, id: string, change: Updateable<RoutineTable>): RoutineRow =>
  db.first(sql.updateTable('routine').set(change).where('id', '=', id).returningAll())!

export const deleteRoutineRow = (db: Db, id: string) => db.run(sql.deleteFrom('routine').where('id', '=', id))

/** Returns the label ids of routines, by routine id. */
export function findLabelIds(db: Db, routineIds: readonly string[]): (id: string) => string[] {
  const rows = db.all(
    sql
      .selectFrom('routine_label')
      .selectAll()
      .where('routine_id', 'in', [...routineIds]),
  )
  const byRoutine = Map.groupBy(rows, (row) => row.routine_id)
  return (id) => (byRoutine.get(id) ?? []).map((row) => row.label_id)
}

export function replaceRoutineLabels(db: Db, routineId: string, labelIds: readonly string[]): void {
  db.run(sql.deleteFrom('routine_label').where('routine_id', '=', routineId))
  if (labelIds.length === 0) return
  const rows = labelIds.map((label_id) => ({ routine_id: routineId, label_id }))
  db.run(sql.insertInto('routine_label').values(rows))
}

const due = prepared((at: { now: string }) =>
  sql.selectFrom('routine').selectAll().where('next_due_at', '<=', at.now).orderBy('next_due_at'),
)

/** Lists the routines that are due, regardless of whether they may create an issue. */
export const listDueRoutines = (db: Db, at: { now: string }): RoutineRow[] => db.all(due(at))

const queued = sql.selectFrom('routine').selectAll().where('queued_due_at', 'is not', null).compile()

/** Lists the routines with a scheduled time that waits for their open issue to end. */
export const listQueuedRoutines = (db: Db): RoutineRow[] => db.all(queued)

const next = sql
  .selectFrom('routine')
  .select('next_due_at')
  .where('next_due_at', 'is not', null)
  .orderBy('next_due_at')
  .limit(1)
  .compile()

/** Returns when the next routine is due. */
export const nextRoutineDue = (db: Db): string | undefined => db.first(next)?.next_due_at ?? undefined

export const listActiveRoutines = (db: Db): RoutineRow[] =>
  db.all(sql.selectFrom('routine').selectAll().where('next_due_at', 'is not', null))

/** Finds the latest open issue of a routine. */
export const findOpenIssueOf = (db: Db, of: { routineId: string }) =>
  db.first(
    sql
      .selectFrom('routine_run')
      .innerJoin('issue', 'issue.id', 'routine_run.issue_id')
      .select(['issue.id', 'issue.identifier', 'issue.status'])
      .where('routine_run.routine_id', '=', of.routineId)
      .where('issue.status', 'in', literals(OPEN_STATUSES))
      .orderBy('routine_run.id', 'desc')
      .limit(1),
  )

export const insertRoutineRun = (db: Db, row: Insertable<RoutineRunTable>): RoutineRunRow =>
  db.first(sql.insertInto('routine_run').values(row).returningAll())!

export const selectRoutineRuns = (of: { routineId: string }) =>
  sql.selectFrom('routine_run').selectAll().where('routine_id', '=', of.routineId)

/** Deletes old entries of a routine's history, except those of open issues. */
export const forgetOldRuns = (db: Db, of: { routineId: string; keep: number }) =>
  db.run(
    sql
      .deleteFrom('routine_run')
      .where('routine_id', '=', of.routineId)
      .where('id', '<=', (eb) =>
        eb
          .selectFrom('routine_run')
          .select('id')
          .where('routine_id', '=', of.routineId)
          .orderBy('id', 'desc')
          .limit(1)
          .offset(of.keep)
          .$asScalar(),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('issue')
              .select('id')
              .whereRef('issue.id', '=', 'routine_run.issue_id')
              .where('status', 'in', literals(OPEN_STATUSES)),
          ),
        ),
      ),
  )
