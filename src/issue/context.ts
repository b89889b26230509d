import type { Selectable } from 'kysely'
import * as v from 'valibot'
import type { Context } from '../context.ts'
import type { Db } from '../database/db.ts'
import { prepared, raw, sql } from '../database/sql.ts'
import type { GoalTable, ProjectTable, WorkspaceTable } from '../database/tables.ts'
import * as field from '../http/fields.ts'
import type { IssueRow } from './issue.ts'
import { PRIORITIES } from './issue.ts'
import { ISSUE_STATUSES } from './lifecycle.ts'
import { listAncestors } from './queries.ts'

/** A goal as its issues show it. */
export const IssueGoal = v.strictObject({
  id: field.id,
  companyId: field.id,
  title: v.string(),
  description: v.nullable(v.string()),
  level: v.picklist(['company', 'team', 'agent', 'task']),
  status: v.picklist(['planned', 'active', 'achieved', 'cancelled']),
  parentId: v.nullable(field.id),
  ownerAgentId: v.nullable(field.id),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
type IssueGoal = v.InferOutput<typeof IssueGoal>

/** A project's workspace as its issues show it. */
export const IssueWorkspace = v.strictObject({
  id: field.id,
  companyId: field.id,
  projectId: field.id,
  name: v.string(),
  cwd: v.nullable(v.string()),
  repoUrl: v.nullable(v.string()),
  repoRef: v.nullable(v.string()),
  isPrimary: v.boolean(),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
type IssueWorkspace = v.InferOutput<typeof IssueWorkspace>

/** A project as its issues show it. */
export const IssueProject = v.strictObject({
  id: field.id,
  companyId: field.id,
  name: v.string(),
  urlKey: v.string(),
  description: v.nullable(v.string()),
  status: v.picklist(['backlog', 'planned', 'active', 'in_progress', 'completed', 'cancelled']),
  goalId: v.nullable(field.id),
  goalIds: v.array(field.id),
  goals: v.array(IssueGoal),
  leadAgentId: v.nullable(field.id),
  targetDate: v.nullable(v.string()),
  archivedAt: v.nullable(field.timestamp),
  primaryWorkspace: v.nullable(IssueWorkspace),
  workspaces: v.array(IssueWorkspace),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
type IssueProject = v.InferOutput<typeof IssueProject>

/** An issue above another, with what it belongs to. */
export const Ancestor = v.strictObject({
  id: field.id,
  identifier: v.string(),
  title: v.string(),
  description: v.nullable(v.string()),
  status: v.picklist(ISSUE_STATUSES),
  priority: v.picklist(PRIORITIES),
  assigneeAgentId: v.nullable(field.id),
  projectId: v.nullable(field.id),
  goalId: v.nullable(field.id),
  project: v.nullable(IssueProject),
  goal: v.nullable(IssueGoal),
})

/** What an issue is for: its project, its goal, and the issues above it, nearest first. */
export const ISSUE_CONTEXT = {
  project: v.nullable(IssueProject),
  goal: v.nullable(IssueGoal),
  ancestors: v.array(Ancestor),
}

/** Reads what an issue is for; each project and goal once, however many ancestors share it. */
export function contextOf(ctx: Context, issue: IssueRow) {
  const above = listAncestors(ctx.db, issue)
  const line = [issue, ...above]
  const projects = findProjectsByIds(ctx.db, unique(line.map((one) => one.project_id)))
  const goals = findGoalsByIds(ctx.db, unique(line.map((one) => one.goal_id)))
  const projectOf = (one: IssueRow) => (one.project_id === null ? null : (projects.get(one.project_id) ?? null))
  const goalOf = (one: IssueRow) => (one.goal_id === null ? null : (goals.get(one.goal_id) ?? null))
  return {
    project: projectOf(issue),
    goal: goalOf(issue),
    ancestors: above.map((one) => ({
      id: one.id,
      identifier: one.identifier,
      title: one.title,
      description: one.description,
      status: one.status,
      priority: one.priority,
      assigneeAgentId: one.assignee_agent_id,
      projectId: one.project_id,
      goalId: one.goal_id,
      project: projectOf(one),
      goal: goalOf(one),
    })),
  }
}

const unique = (ids: (string | null)[]) => [...new Set(ids.filter((id) => id !== null))]

// Cross joins, since SQLite keeps their order: from the few ids wanted to the rows.
const wanted = (ids: string) => raw<{ value: string }>`json_each(${ids})`.as('wanted')

const goalsById = prepared((of: { ids: string }) =>
  sql.selectFrom(wanted(of.ids)).crossJoin('goal').selectAll('goal').whereRef('goal.id', '=', 'wanted.value'),
)

function findGoalsByIds(db: Db, ids: string[]): Map<string, IssueGoal> {
  if (ids.length === 0) return new Map()
  return new Map(db.all(goalsById({ ids: JSON.stringify(ids) })).map((row) => [row.id, toGoal(row)]))
}

const projectsById = prepared((of: { ids: string }) =>
  sql.selectFrom(wanted(of.ids)).crossJoin('project').selectAll('project').whereRef('project.id', '=', 'wanted.value'),
)

const workspacesOf = prepared((of: { ids: string }) =>
  sql
    .selectFrom(wanted(of.ids))
    .crossJoin('workspace')
    .selectAll('workspace')
    .whereRef('workspace.project_id', '=', 'wanted.value')
    .orderBy('workspace.id'),
)

const goalsOfProjects = prepared((of: { ids: string }) =>
  sql
    .selectFrom(wanted(of.ids))
    .crossJoin('project_goal')
    .crossJoin('goal')
    .selectAll('goal')
    .select('project_goal.project_id')
    .whereRef('project_goal.project_id', '=', 'wanted.value')
    .whereRef('goal.id', '=', 'project_goal.goal_id')
    .orderBy('project_goal.position'),
)

function findProjectsByIds(db: Db, list: string[]): Map<string, IssueProject> {
  if (list.length === 0) return new Map()
  const ids = JSON.stringify(list)
  const goals = Map.groupBy(db.all(goalsOfProjects({ ids })), (row) => row.project_id)
  const workspaces = Map.groupBy(db.all(workspacesOf({ ids })), (row) => row.project_id)
  return new Map(
    db
      .all(projectsById({ ids }))
      .map((row) => [
        row.id,
        toProject(row, (goals.get(row.id) ?? []).map(toGoal), (workspaces.get(row.id) ?? []).map(toWorkspace)),
      ]),
  )
}

const toGoal = (row: Selectable<GoalTable>): IssueGoal => ({
  id: row.id,
  companyId: row.company_id,
  title: row.title,
  description: row.description,
  level: row.level,
  status: row.status,
  parentId: row.parent_id,
  ownerAgentId: row.owner_agent_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toWorkspace = (row: Selectable<WorkspaceTable>): IssueWorkspace => ({
  id: row.id,
  companyId: row.company_id,
  projectId: row.project_id,
  name: row.name,
  cwd: row.cwd,
  repoUrl: row.repo_url,
  repoRef: row.repo_ref,
  isPrimary: row.is_primary === 1,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toProject = (row: Selectable<ProjectTable>, goals: IssueGoal[], workspaces: IssueWorkspace[]): IssueProject => ({
  id: row.id,
  companyId: row.company_id,
  name: row.name,
  urlKey: row.url_key,
  description: row.description,
  status: row.status,
  goalId: goals[0]?.id ?? null,
  goalIds: goals.map((goal) => goal.id),
  goals,
  leadAgentId: row.lead_agent_id,
  targetDate: row.target_date,
  archivedAt: row.archived_at,
  primaryWorkspace: workspaces.find((workspace) => workspace.isPrimary) ?? null,
  workspaces,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
