import { v7 as uuid } from 'uuid'
import type { Caller } from '../../access/caller/caller.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { findAgentByUrlKey } from '../../organization/agent/queries.ts'
import type { Context } from '../../platform/context.ts'
import { createGoal } from '../../work/goal/change.ts'
import { createIssue } from '../../work/issue/create.ts'
import { deepenIssues, findIssue, updateIssueRow } from '../../work/issue/queries.ts'
import { replaceBlockers } from '../../work/issue/relations.ts'
import { createLabel } from '../../work/label/change.ts'
import { findLabelByName } from '../../work/label/queries.ts'
import { createProject } from '../../work/project/change.ts'
import { findProject, findProjectByUrlKey } from '../../work/project/queries.ts'
import { addWorkspace } from '../../work/project/workspaces.ts'
import { hireAgent } from '../../work/staffing/hire.ts'
import { insertPart } from '../company/queries.ts'
import { createRoutine } from '../company/routines.ts'
import { createSkill, skillKeyOf } from '../company/skills.ts'
import type { Include } from '../read/include.ts'
import type { CompanyPackage, PackageAgent } from '../read/package.ts'
import { finishImport, resolveImportTarget } from './apply-company.ts'
import type { Kind } from './import-body.ts'
import { newAgentOf } from './new-agent.ts'
import type { Step, Target } from './plan.ts'

export interface Application {
  content: CompanyPackage
  include: Include
  target: Target
  steps: readonly Step[]
  /** Where each agent's instructions are on disk already, and the id that it will have. */
  agents: ReadonlyMap<string, { id: string; instructionsFile: string | null }>
  /** The company whose members a new one takes over; null when it comes from none. */
  fromCompanyId: string | null
}

/**
 * Does what a plan says, within a write, and fills the ids into its steps.
 * Nothing is woken and no timer runs: an import starts nothing.
 *
 * @returns the company's id
 */
export function applySteps(ctx: Context, caller: Caller, application: Application): string {
  const { content, include, steps } = application
  const { companyId, actor } = resolveImportTarget(ctx, caller, application)
  const stepOf = (kind: Kind, slug: string) => steps.find((step) => step.kind === kind && step.slug === slug)
  /** Goes through the things of one kind that are to be created, and notes their ids. */
  const each = <T>(
    kind: Kind,
    things: readonly T[],
    slugOf: (thing: T) => string,
    create: (thing: T, step: Step) => string | null,
  ) => {
    const index = new Map(steps.filter((step) => step.kind === kind).map((step) => [step.slug, step]))
    for (const thing of things) {
      const step = index.get(slugOf(thing))
      if (step && step.action !== 'skip') step.id = create(thing, step)
    }
  }
  /** The id of an agent that something refers to: of the package, or of the company by its slug. */
  const agentId = (slug: string | null): string | null =>
    slug === null
      ? null
      : (stepOf('agent', slug)?.id ?? findAgentByUrlKey(ctx.db, { companyId, urlKey: slug })?.id ?? null)

  each(
    'label',
    content.labels,
    (label) => label.name.toLowerCase(),
    (label) => createLabel(ctx, actor, companyId, label).id,
  )

  each(
    'skill',
    content.skills,
    (skill) => skill.slug,
    (skill, step) => createSkill(ctx, actor, companyId, { ...skill, slug: step.newSlug }).id,
  )
  const skillKey = (slug: string) => skillKeyOf(ctx, companyId, { id: stepOf('skill', slug)?.id ?? null, slug })

  each(
    'agent',
    aboveFirst(content.agents, (agent) => agent.reportsTo),
    (agent) => agent.slug,
    (agent, step) => {
      const { id, instructionsFile } = application.agents.get(agent.slug)!
      const want = newAgentOf(agent, actor)
      const key = adapterOf(want.adapterType)?.instructionsKey
      if (instructionsFile !== null && key) want.adapterConfig = { ...want.adapterConfig, [key]: instructionsFile }
      want.name = step.as
      want.reportsTo = agentId(agent.reportsTo)
      want.desiredSkills = agent.skills.flatMap((slug) => skillKey(slug) ?? [])
      hireAgent(ctx, actor, companyId, want, { id, urlKey: step.newSlug })
      return id
    },
  )

  each(
    'team',
    content.teams,
    (team) => team.slug,
    (team, step) => {
      const { name, description, tags, body, skills } = team
      const members = team.agents.flatMap((slug) => agentId(slug) ?? [])
      const path = `teams/${step.newSlug}/TEAM.md`
      const stored = { name, description, tags, body, skills, manager: agentId(team.manager), agents: members }
      insertPart(ctx.db, { company_id: companyId, path, kind: 'team', content: Buffer.from(JSON.stringify(stored)) })
      return null
    },
  )

  const goalId = (slug: string | null) => (slug === null ? null : (stepOf('goal', slug)?.id ?? null))

  each(
    'goal',
    aboveFirst(content.goals, (goal) => goal.parent),
    (goal) => goal.slug,
    (goal) => {
      const { title, description, level, status } = goal
      const parentId = goalId(goal.parent)
      const want = { title, description, level, status, parentId, ownerAgentId: agentId(goal.owner) }
      return createGoal(ctx, actor, companyId, want).id
    },
  )

  each(
    'project',
    content.projects,
    (project) => project.slug,
    (project, step) => {
      const { description, status, targetDate } = project
      const goals = project.goals.flatMap((slug) => stepOf('goal', slug)?.id ?? [])
      const want = {
        name: step.as,
        description,
        status,
        targetDate,
        goalIds: goals,
        leadAgentId: agentId(project.lead),
      }
      const { id } = createProject(ctx, actor, companyId, want, step.newSlug)
      const row = findProject(ctx.db, { id })!
      for (const workspace of project.workspaces) addWorkspace(ctx, actor, row, workspace)
      return id
    },
  )

  const projectId = (slug: string | null) =>
    slug === null
      ? null
      : (stepOf('project', slug)?.id ?? findProjectByUrlKey(ctx.db, { companyId, urlKey: slug })?.id ?? null)
  const assigneeId = (slug: string | null) =>
    slug !== null && stepOf('agent', slug)?.status === 'pending_approval' ? null : agentId(slug)

  each(
    'issue',
    content.tasks,
    (task) => task.key,
    (task, step) => {
      const { description, status, priority } = task
      const labelIds = task.labels.flatMap((name) => findLabelByName(ctx.db, { companyId, name })?.id ?? [])
      const want = {
        ...{ title: step.as, description, status, priority, labelIds },
        projectId: projectId(task.project),
        assigneeAgentId: assigneeId(task.assignee),
      }
      return createIssue(ctx, actor, companyId, want, { quiet: true }).id
    },
  )
  if (include.issues) relateIssues(ctx, content, steps)

  each(
    'routine',
    content.routines,
    (routine) => routine.key,
    ({ key: _, slug: __, project, goal, parent, assignee, ...routine }, step) =>
      createRoutine(ctx, actor, companyId, {
        ...routine,
        title: step.as,
        projectId: projectId(project),
        goalId: goalId(goal),
        parentId: parent === null ? null : (stepOf('issue', parent)?.id ?? null),
        assigneeAgentId: assigneeId(assignee),
      }),
  )
  finishImport(ctx, caller, actor, companyId, application)
  return companyId
}

/** Parents and blockers, once all issues are there: their numbers keep the order of the package. */
function relateIssues(ctx: Context, { tasks }: CompanyPackage, steps: readonly Step[]): void {
  const issues = new Map(steps.filter((step) => step.kind === 'issue').map((step) => [step.slug, step]))
  for (const task of tasks) {
    const step = issues.get(task.key)
    if (!step?.id || step.action === 'skip') continue
    const parent = task.parent === null ? null : issues.get(task.parent)?.id
    if (parent) {
      updateIssueRow(ctx.db, step.id, { parent_id: parent })
      deepenIssues(ctx.db, { id: step.id, by: findIssue(ctx.db, parent)!.request_depth + 1 })
    }
    const blockers = task.blockedBy.flatMap((key) => issues.get(key)?.id ?? [])
    if (blockers.length > 0) replaceBlockers(ctx.db, step.id, blockers)
  }
}

/** Things in such an order that each comes after the one above it, else as they were. */
function aboveFirst<T extends { slug: string }>(things: readonly T[], aboveOf: (thing: T) => string | null): T[] {
  const bySlug = new Map(things.map((thing) => [thing.slug, thing]))
  const ordered = new Set<T>()
  for (const thing of things) {
    const line: T[] = []
    for (let at: T | undefined = thing; at && !ordered.has(at); at = bySlug.get(aboveOf(at) ?? '')) line.push(at)
    for (const one of line.reverse()) ordered.add(one)
  }
  return [...ordered]
}

/** Ids for the agents of a package, so that their files can be on disk before their rows are there. */
export const chooseIds = (agents: readonly PackageAgent[]): Map<string, string> =>
  new Map(agents.map((agent) => [agent.slug, uuid()]))
