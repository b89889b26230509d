import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../platform/database/db.ts'
import { each, prepared, sql } from '../../platform/database/sql.ts'
import type { ProjectTable, WorkspaceTable } from '../../platform/database/tables.ts'
import { type Goal, toGoal } from '../goal/goal.ts'
import { type Project, type ProjectRow, toProject } from './project.ts'
import { toWorkspace, type WorkspaceRow } from './workspace.ts'

const projectById = prepared((key: { id: string }) => sql.selectFrom('project').selectAll().where('id', '=', key.id))

export const findProject = (db: Db, key: { id: string }): ProjectRow | undefined => db.first(projectById(key))

const projectByUrlKey = prepared((key: { companyId: string; urlKey: string }) =>
  sql.selectFrom('project').selectAll().where('company_id', '=', key.companyId).where('url_key', '=', key.urlKey),
)

export const findProjectByUrlKey = (db: Db, key: { companyId: string; urlKey: string }): ProjectRow | undefined =>
  db.first(projectByUrlKey(key))

/** Returns projects with their goals and workspaces by id, with three queries. Unknown ids are omitted. */
export function findProjectsByIds(db: Db, ids: readonly string[]): Map<string, Project> {
  if (ids.length === 0) return new Map()
  const rows = db.all(projectsByIds({ ids: JSON.stringify(ids) }))
  return new Map(withParts(db, rows).map((project) => [project.id, project]))
}

/** Adds the goals and workspaces to projects, with two queries. */
export function withParts(db: Db, rows: readonly ProjectRow[]): Project[] {
  if (rows.length === 0) return []
  const ids = JSON.stringify(rows.map((row) => row.id))
  const goals = db.all(goalsOfProjects({ ids }))
  const workspaces = db.all(workspacesOfProjects({ ids }))
  const goalsOf = Map.groupBy(goals, (goal) => goal.project_id)
  const workspacesOf = Map.groupBy(workspaces, (workspace) => workspace.project_id)
  return rows.map((row) =>
    toProject(row, {
      goals: (goalsOf.get(row.id) ?? []).map((goal): Goal => toGoal(goal)),
      workspaces: (workspacesOf.get(row.id) ?? []).map(toWorkspace),
    }),
  )
}

const projectsByIds = prepared((of: { ids: string }) =>
  sql.selectFrom(each(of.ids)).crossJoin('project').selectAll('project').whereRef('project.id', '=', 'wanted.value'),
)

const goalsOfProjects = prepared((of: { ids: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('project_goal')
    .crossJoin('goal')
    .selectAll('goal')
    .select('project_goal.project_id')
    .whereRef('project_goal.project_id', '=', 'wanted.value')
    .whereRef('goal.id', '=', 'project_goal.goal_id')
    .orderBy('project_goal.position'),
)

const workspacesOfProjects = prepared((of: { ids: string }) =>
  sql
    .selectFrom(each(of.ids))
    .crossJoin('workspace')
    .selectAll('workspace')
    .whereRef('workspace.project_id', '=', 'wanted.value')
    .orderBy('workspace.id'),
)

export interface ProjectFilter {
  companyId: string
  statuses: readonly ProjectRow['status'][] | undefined
}

export function selectProjects(filter: ProjectFilter) {
  const query = sql.selectFrom('project').selectAll().where('company_id', '=', filter.companyId)
  return filter.statuses ? query.where('status', 'in', filter.statuses) : query
}

export const insertProject = (db: Db, row: Insertable<ProjectTable>): ProjectRow =>
  db.first(sql.insertInto('project').values(row).returningAll())!

export const updateProjectRow = (db: Db, id: string, change: Updateable<ProjectTable>): ProjectRow =>
  db.first(sql.updateTable('project').set(change).where('id', '=', id).returningAll())!

export const deleteProjectRow = (db: Db, id: string) => db.run(sql.deleteFrom('project').where('id', '=', id))

export const listProjectGoalIds = (db: Db, of: { projectId: string }): string[] =>
  db
    .all(sql.selectFrom('project_goal').select('goal_id').where('project_id', '=', of.projectId).orderBy('position'))
    .map((row) => row.goal_id)

/** Replaces a project's goals, in this order. */
export function replaceProjectGoals(db: Db, projectId: string, goalIds: readonly string[]): void {
  db.run(sql.deleteFrom('project_goal').where('project_id', '=', projectId))
  if (goalIds.length === 0) return
  const rows = goalIds.map((goal_id, position) => ({ project_id: projectId, goal_id, position }))
  db.run(sql.insertInto('project_goal').values(rows))
}

/** Counts the references to a project by kind of entity, except those that are deleted with it. */
export const countProjectUses = (db: Db, id: string) =>
  db.first(
    sql.selectNoFrom((eb) => [
      eb
        .selectFrom('issue')
        .select((e) => e.fn.countAll<number>().as('n'))
        .where('project_id', '=', id)
        .as('issues'),
      eb
        .selectFrom('cost_event')
        .select((e) => e.fn.countAll<number>().as('n'))
        .where('project_id', '=', id)
        .as('costs'),
    ]),
  )!

/** Oldest first. */
export const listWorkspaces = (db: Db, of: { projectId: string }): WorkspaceRow[] =>
  db.all(sql.selectFrom('workspace').selectAll().where('project_id', '=', of.projectId).orderBy('id'))

export const findWorkspace = (db: Db, key: { projectId: string; id: string }): WorkspaceRow | undefined =>
  db.first(sql.selectFrom('workspace').selectAll().where('project_id', '=', key.projectId).where('id', '=', key.id))

export const insertWorkspace = (db: Db, row: Insertable<WorkspaceTable>): WorkspaceRow =>
  db.first(sql.insertInto('workspace').values(row).returningAll())!

export const updateWorkspaceRow = (db: Db, id: string, change: Updateable<WorkspaceTable>): WorkspaceRow =>
  db.first(sql.updateTable('workspace').set(change).where('id', '=', id).returningAll())!

export const deleteWorkspaceRow = (db: Db, id: string) => db.run(sql.deleteFrom('workspace').where('id', '=', id))

/** Clears the primary mark of a project's workspaces. At most one workspace is primary. */
export const clearPrimary = (db: Db, of: { projectId: string; at: string }) =>
  db.run(
    sql
      .updateTable('workspace')
      .set({ is_primary: 0, updated_at: of.at })
      .where('project_id', '=', of.projectId)
      .where('is_primary', '=', 1),
  )
