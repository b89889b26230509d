import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { each, prepared, sql } from '../../platform/database/sql.ts'
import type { GoalTable } from '../../platform/database/tables.ts'
import type { GoalRow } from './goal.ts'

const goalById = prepared((key: { id: string }) => sql.selectFrom('goal').selectAll().where('id', '=', key.id))

export const findGoal = (db: Db, key: { id: string }): GoalRow | undefined => db.first(goalById(key))

/** Returns the goals with these ids, unordered. Unknown ids are omitted. */
export const findGoalsByIds = (db: Db, ids: readonly string[]): GoalRow[] =>
  ids.length === 0 ? [] : db.all(goalsByIds({ ids: JSON.stringify(ids) }))

const goalsByIds = prepared((of: { ids: string }) =>
  sql.selectFrom(each(of.ids)).crossJoin('goal').selectAll('goal').whereRef('goal.id', '=', 'wanted.value'),
)

/** Lists all goals of a company, oldest first. */
export const listGoals = (db: Db, of: { companyId: string }): GoalRow[] =>
  db.all(sql.selectFrom('goal').selectAll().where('company_id', '=', of.companyId).orderBy('id'))

const children = prepared((of: { parentId: string }) =>
  sql.selectFrom('goal').selectAll().where('parent_id', '=', of.parentId),
)

export const listChildGoals = (db: Db, of: { parentId: string }): GoalRow[] => db.all(children(of))

export const insertGoal = (db: Db, row: Insertable<GoalTable>): GoalRow =>
  db.first(sql.insertInto('goal').values(row).returningAll())!

export const updateGoalRow = (db: Db, id: string, change: Updateable<GoalTable>): GoalRow =>
  db.first(sql.updateTable('goal').set(change).where('id', '=', id).returningAll())!

export const deleteGoalRow = (db: Db, id: string) => db.run(sql.deleteFrom('goal').where('id', '=', id))

/** Counts the references to a goal by kind of entity. */
export const countGoalUses = (db: Db, id: string) =>
  db.first(
    sql.selectNoFrom((eb) => [
      eb
        .selectFrom('goal')
        .select((e) => e.fn.countAll<number>().as('n'))
        .where('parent_id', '=', id)
        .as('goals'),
      eb
        .selectFrom('project_goal')
        .select((e) => e.fn.countAll<number>().as('n'))
        .where('goal_id', '=', id)
        .as('projects'),
      eb
        .selectFrom('issue')
        .select((e) => e.fn.countAll<number>().as('n'))
        .where('goal_id', '=', id)
        .as('issues'),
      eb
        .selectFrom('cost_event')
        .select((e) => e.fn.countAll<number>().as('n'))
        .where('goal_id', '=', id)
        .as('costs'),
    ]),
  )!
