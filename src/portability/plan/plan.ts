import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { statusOfHire } from '../../work/staffing/hire.ts'
import { digestOfSkill } from '../company/skills.ts'
import type { Include } from '../read/include.ts'
import type { CompanyPackage, PackageAgent } from '../read/package.ts'
import { taskPath } from '../read/package-layout.ts'
import type { PackageWarning } from '../source/warning.ts'
import { freeNameOf, loadExisting, type Taken, type Thing } from './existing.ts'
import type { Kind, PlannedEntity } from './import-body.ts'
import { newAgentOf } from './new-agent.ts'

/** Where an import goes. `companyId` is null while the company does not exist. */
export interface Target {
  mode: 'existing_company' | 'new_company'
  companyId: string | null
  companyName: string
}

export interface PlanInput {
  content: CompanyPackage
  include: Include
  target: Target
  strategy: 'rename' | 'skip'
}

/** A thing of the package, and the slug that it will have. */
export interface Step extends PlannedEntity {
  newSlug: string
}

export interface Steps {
  steps: Step[]
  warnings: PackageWarning[]
}

const NEW = 'There is none of this name yet.'

/**
 * Decides for each thing of a package what becomes of it: it is created,
 * created under another name, or skipped for what is there. Changes nothing.
 */
export function planSteps(ctx: Context, caller: Caller, { content, include, target, strategy }: PlanInput): Steps {
  const there = loadExisting(ctx, target.companyId)
  const warnings: PackageWarning[] = []
  const steps: Step[] = []

  /** Plans one thing among those whose slugs and names are taken. */
  function add(kind: Kind, thing: Thing, taken: Taken): Step {
    const holder = taken.find(thing)
    const base = { kind, slug: thing.slug, path: thing.path, name: thing.name, status: thing.status ?? null }
    const free = { ...base, action: 'create' as const, as: thing.name, newSlug: thing.slug, reason: NEW, id: null }
    const step: Step = !holder
      ? free
      : (strategy === 'skip' && !holder.isGone) || thing.onlyOnce
        ? { ...base, action: 'skip', as: holder.name, newSlug: holder.slug, reason: holder.reason, id: holder.id }
        : { ...free, action: 'rename', ...freeNameOf(thing, taken), reason: holder.reason }
    if (step.action !== 'skip') taken.take(step.newSlug, step.as)
    steps.push(step)
    return step
  }

  if (include.company) {
    steps.push(planCompany(content, target))
    if (target.mode === 'new_company') noteExtras(content, steps)
  }
  if (include.company || include.issues) {
    for (const { name } of content.labels) {
      add('label', { slug: name.toLowerCase(), name, path: null, onlyOnce: true }, there.labels)
    }
  }
  if (include.agents) {
    for (const skill of content.skills) {
      const same = there.skillRows.some((row) => row.slug === skill.slug && row.digest === digestOfSkill(skill))
      add('skill', { ...skill, path: `skills/${skill.slug}/SKILL.md`, onlyOnce: same }, there.skills)
    }
    const status = (agent: PackageAgent) =>
      target.companyId === null
        ? caller.type === 'agent'
          ? 'pending_approval'
          : 'idle'
        : statusOfHire(ctx, caller, target.companyId, newAgentOf(agent, caller))
    for (const agent of content.agents) {
      const path = `agents/${agent.slug}/AGENTS.md`
      const step = add('agent', { ...agent, path, status: status(agent) }, there.agents)
      if (step.action !== 'skip') warnings.push(...warningsOf(agent, path, there.hasCeo))
    }
    for (const team of content.teams) add('team', { ...team, path: `teams/${team.slug}/TEAM.md` }, there.teams)
  }
  if (include.company) {
    for (const { slug, title } of content.goals) {
      add('goal', { slug, name: title, path: 'COMPANY.md', onlyOnce: true }, there.goals)
    }
  }
  if (include.projects) {
    for (const project of content.projects) {
      add('project', { ...project, path: `projects/${project.slug}/PROJECT.md` }, there.projects)
    }
  }
  if (include.issues) {
    const projectOf = (slug: string | null) =>
      slug === null ? '' : (steps.find((step) => step.kind === 'project' && step.slug === slug)?.newSlug ?? '')
    for (const task of content.tasks) {
      const taken = there.issuesOf(projectOf(task.project))
      add('issue', { slug: task.key, name: task.title, path: taskPath(task), status: task.status }, taken)
    }
    for (const routine of content.routines) {
      add(
        'routine',
        { slug: routine.key, status: 'paused', name: routine.title, path: taskPath(routine) },
        there.routines,
      )
    }
    warnings.push(...noteUnassignable(content, steps))
  }
  return { steps, warnings }
}

function planCompany({ company }: CompanyPackage, target: Target): Step {
  const isNew = target.mode === 'new_company'
  return {
    kind: 'company',
    slug: company.slug,
    newSlug: company.slug,
    path: 'COMPANY.md',
    name: company.name ?? target.companyName,
    action: isNew ? 'create' : 'skip',
    as: target.companyName,
    status: null,
    reason: isNew ? NEW : 'An import changes nothing of a company that is there.',
    id: target.companyId,
  }
}

/** What there is besides the nouns goes with a company that is created. */
function noteExtras({ documents }: CompanyPackage, steps: Step[]): void {
  if (documents.size > 0) steps[0]!.reason = `${NEW} It keeps ${[...documents.keys()].join(', ')}.`
}

/** What a person should look at before an agent of a package runs. */
function warningsOf(agent: PackageAgent, path: string, hasCeo: boolean): PackageWarning[] {
  const { adapterConfig, adapterType } = agent
  const command = typeof adapterConfig.command === 'string' ? adapterConfig.command : undefined
  const warn = (code: string, message: string): PackageWarning => ({ code, path, message })
  return [
    ...(command?.startsWith('/')
      ? [warn('absolute_command', `It runs ${command}: look at what that is on this machine before the agent runs.`)]
      : []),
    ...(command !== undefined || adapterType === 'process' || adapterType === 'http' || adapterConfig.extraArgs
      ? [warn('names_what_runs', 'The package says which program runs, or where a wake is posted to.')]
      : []),
    ...(agent.role === 'ceo' && hasCeo
      ? [warn('second_ceo', 'The company has a CEO already; this one would have the same rights.')]
      : []),
  ]
}

/** An agent that waits for approval takes no issue. */
function noteUnassignable(content: CompanyPackage, steps: readonly Step[]): PackageWarning[] {
  const pending = new Set(
    steps
      .filter((step) => step.kind === 'agent' && step.action !== 'skip' && step.status === 'pending_approval')
      .map((step) => step.slug),
  )
  return [...content.tasks, ...content.routines]
    .filter((task) => task.assignee !== null && pending.has(task.assignee))
    .map((task) => ({
      code: 'unassigned',
      path: taskPath(task),
      message: `${task.assignee} waits for approval and takes no issue; assign it afterwards.`,
    }))
}
