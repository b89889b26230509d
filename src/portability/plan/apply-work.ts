import type { Caller } from '../../access/caller/caller.ts'
import type { LongChange } from '../../platform/database/long-write.ts'
import { slugOf } from '../../platform/url-key.ts'
import { createGoal } from '../../work/goal/change.ts'
import { createIssue } from '../../work/issue/create.ts'
import { deepenIssues, findIssue, updateIssueRow } from '../../work/issue/queries.ts'
import { replaceBlockers } from '../../work/issue/relations.ts'
import { createProject } from '../../work/project/change.ts'
import { findProject } from '../../work/project/queries.ts'
import { addWorkspace } from '../../work/project/workspaces.ts'
import { storeKept } from '../company/kept.ts'
import { createRoutine } from '../company/routines.ts'
import type { PackageWorkspace } from '../read/package.ts'
import type { Destination } from './application.ts'
import { parentsFirst } from './parents-first.ts'

export function* createGoals({ ctx, actor, companyId, content, references }: Destination): LongChange<void> {
  yield* references.createEach(
    'goal',
    parentsFirst(content.goals, (goal) => goal.parent),
    (goal) => goal.slug,
    ({ slug, title, description, level, status, parent, owner, kept: stored }) => {
      const parentId = references.goalId(parent)
      const ownerAgentId = references.agentId(owner)
      const want = { title, description, level, status, parentId, ownerAgentId }
      const { id } = createGoal(ctx, actor, companyId, want)
      storeKept(ctx, companyId, id, { ...stored, slug: slug === slugOf(title) ? null : slug })
      return id
    },
  )
}

export function* createProjects({ ctx, actor, companyId, content, references }: Destination): LongChange<void> {
  yield* references.createEach(
    'project',
    content.projects,
    (project) => project.slug,
    ({ summary, description, status, targetDate, goals, lead, workspaces, kept: stored }, step) => {
      const goalIds = goals.flatMap((slug) => references.goalId(slug) ?? [])
      const leadAgentId = references.agentId(lead)
      const want = { name: step.as, description, status, targetDate, goalIds, leadAgentId }
      const { id } = createProject(ctx, actor, companyId, want, step.newSlug)
      const row = findProject(ctx.db, { id })!
      for (const workspace of workspaces) addWorkspace(ctx, actor, row, workspaceFor(actor, workspace))
      storeKept(ctx, companyId, id, { ...stored, summary })
      return id
    },
  )
}

/** Only the board sets commands; an import by an agent leaves them out. */
const workspaceFor = (actor: Caller, workspace: PackageWorkspace) =>
  actor.type === 'board' ? workspace : { ...workspace, setupCommand: null, cleanupCommand: null }

export function* createIssues(destination: Destination): LongChange<void> {
  const { ctx, actor, companyId, content, references } = destination
  yield* references.createEach(
    'issue',
    content.tasks,
    (task) => task.key,
    (
      { slug, summary, description, status, priority, labels, project, goal, billingCode, assignee, kept: stored },
      step,
    ) => {
      const want = {
        ...{ title: step.as, description, status, priority, labelIds: references.labelIds(labels) },
        projectId: references.projectId(project),
        goalId: references.goalId(goal),
        billingCode,
        assigneeAgentId: references.assigneeId(assignee),
      }
      const { id } = createIssue(ctx, actor, companyId, want, { quiet: true })
      storeKept(ctx, companyId, id, { ...stored, summary, slug: slug === slugOf(step.as) ? null : slug })
      return id
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
    ({ key: _, slug, project, goal, parent, assignee, summary, kept: stored, ...routine }, step) => {
      const id = createRoutine(ctx, actor, companyId, {
        ...routine,
        title: step.as,
        projectId: references.projectId(project),
        goalId: references.goalId(goal),
        parentId: references.issueId(parent),
        assigneeAgentId: references.assigneeId(assignee),
      })
      storeKept(ctx, companyId, id, { ...stored, summary, slug: slug === slugOf(step.as) ? null : slug })
      return id
    },
  )
}
