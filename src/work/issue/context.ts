import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { Goal, toGoal } from '../goal/goal.ts'
import { findGoalsByIds } from '../goal/queries.ts'
import { Project } from '../project/project.ts'
import { findProjectsByIds } from '../project/queries.ts'
import type { IssueRow } from './issue.ts'
import { PRIORITIES } from './issue.ts'
import { ISSUE_STATUSES } from './lifecycle.ts'
import { listAncestors } from './queries.ts'

/** An ancestor of an issue, with its project and goal. */
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
  project: v.nullable(Project),
  goal: v.nullable(Goal),
})

/** The context of an issue: its project, its goal, and its ancestors, nearest first. */
export const ISSUE_CONTEXT = {
  project: v.nullable(Project),
  goal: v.nullable(Goal),
  ancestors: v.array(Ancestor),
}

const NO_CONTEXT = { project: null, goal: null, ancestors: [] }

/** Reads the context of an issue. Each project and goal is read once, even if several ancestors share it. */
export function contextOf(ctx: Context, issue: IssueRow) {
  if (issue.parent_id === null && issue.project_id === null && issue.goal_id === null) return NO_CONTEXT
  const above = listAncestors(ctx.db, issue)
  const line = [issue, ...above]
  const projects = findProjectsByIds(ctx.db, unique(line.map((one) => one.project_id)))
  const goals = new Map(
    findGoalsByIds(ctx.db, unique(line.map((one) => one.goal_id))).map((row) => [row.id, toGoal(row)]),
  )
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
