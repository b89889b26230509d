import type { LongChange } from '../../platform/database/long-write.ts'
import { createGoal } from '../../work/goal/change.ts'
import { createIssue } from '../../work/issue/create.ts'
import { deepenIssues, findIssue, updateIssueRow } from '../../work/issue/queries.ts'
import { replaceBlockers } from '../../work/issue/relations.ts'
import { createProject } from '../../work/project/change.ts'
import { findProject } from '../../work/project/queries.ts'
import { addWorkspace } from '../../work/project/workspaces.ts'
import { createRoutine } from '../company/routines.ts'
import type { Destination } from './application.ts'
import { parentsFirst } from './parents-first.ts'

export function* createGoals({ ctx, actor, companyId, content, references }: Destination): LongChange<void> {
  yield* references.createEach(
    'goal',
    parentsFirst(content.goals, (goal) => goal.parent),
    (goal) => goal.slug,
    ({ title, description, level, status, parent, owner }) => {
      const parentId = references.goalId(parent)
      const ownerAgentId = references.agentId(owner)
      return createGoal(ctx, actor, companyId, { title, description, level, status, parentId, ownerAgentId }).id
    },
  )
}

export function* createProjects({ ctx, actor, companyId, content, references }: Destination): LongChange<void> {
  yield* references.createEach(
    'project',
    content.projects,
    (project) => project.slug,
    ({ description, status, targetDate, goals, lead, workspaces }, step) => {
      const goalIds = goals.flatMap((slug) => references.goalId(slug) ?? [])
      const leadAgentId = references.agentId(lead)
      const want = { name: step.as, description, status, targetDate, goalIds, leadAgentId }
      const { id } = createProject(ctx, actor, companyId, want, step.newSlug)
      const row = findProject(ctx.db, { id })!
      for (const workspace of workspaces) addWorkspace(ctx, actor, row, workspace)
      return id
    },
  )
}

export function* createIssues(destination: Destination): LongChange<void> {
  const { ctx, actor, companyId, content, references } = destination
  yield* references.createEach(
    'issue',
    content.tasks,
    (task) => task.key,
    ({ description, status, priority, labels, project, assignee }, step) => {
      const want = {
        ...{ title: step.as, description, status, priority, labelIds: references.labelIds(labels) },
        projectId: references.projectId(project),
        assigneeAgentId: references.assigneeId(assignee),
      }
      return createIssue(ctx, actor, companyId, want, { quiet: true }).id
    },
  )
  yield* relateIssues(destination)
}

/** Sets parents and blockers once all issues exist. Their numbers follow the order of the package. */
function* relateIssues({ ctx, content, references }: Destination): LongChange<void> {
  for (const task of content.tasks) {
    const id = references.issueId(task.key)
    if (id === null || !references.isCreated('issue', task.key)) continue
    const parentId = references.issueId(task.parent)
    if (parentId !== null) {
      updateIssueRow(ctx.db, id, { parent_id: parentId })
      deepenIssues(ctx.db, { id, by: findIssue(ctx.db, parentId)!.request_depth + 1 })
    }
    const blockers = task.blockedBy.flatMap((key) => references.issueId(key) ?? [])
    if (blockers.length > 0) replaceBlockers(ctx.db, id, blockers)
    yield
  }
}

export function* createRoutines({ ctx, actor, companyId, content, references }: Destination): LongChange<void> {
  yield* references.createEach(
    'routine',
    content.routines,
    (routine) => routine.key,
    ({ key: _, slug: __, project, goal, parent, assignee, ...routine }, step) =>
      createRoutine(ctx, actor, companyId, {
        ...routine,
        title: step.as,
        projectId: references.projectId(project),
        goalId: references.goalId(goal),
        parentId: references.issueId(parent),
        assigneeAgentId: references.assigneeId(assignee),
      }),
  )
}
