import type { Caller } from '../../access/caller/caller.ts'
import { shellWarning } from '../../adapter/process.ts'
import { secretNames } from '../../adapter/secrets.ts'
import type { ReadContext } from '../../platform/context.ts'
import { statusOfHire } from '../../work/staffing/hire.ts'
import type { Include } from '../read/include.ts'
import type { CompanyPackage, PackageAgent } from '../read/package.ts'
import { taskPath } from '../read/package-layout.ts'
import type { PackageWarning } from '../source/warning.ts'
import { loadExisting } from './existing.ts'
import type { Kind, PlannedEntity } from './import-body.ts'
import { freeNameOf, type ImportCandidate, type NameRegistry } from './name-registry.ts'
import { newAgentOf } from './new-agent.ts'

/** The company that an import goes to. `companyId` is null while it does not exist. */
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

/** A planned entity with the slug that it will have. */
export interface Step extends PlannedEntity {
  newSlug: string
}

export interface Steps {
  steps: Step[]
  warnings: PackageWarning[]
}

const NEW = 'The name is free.'

/**
 * Plans an import: each entity of the package is created, created under another
 * name, or skipped in favour of an existing one. Does not modify data.
 */
export function planSteps(ctx: ReadContext, caller: Caller, { content, include, target, strategy }: PlanInput): Steps {
  const existing = loadExisting(ctx, target.companyId)
  const warnings: PackageWarning[] = []
  const steps: Step[] = []

  /** Plans one entity against the names that are used already. */
  function add(kind: Kind, candidate: ImportCandidate, registry: NameRegistry): Step {
    const conflict = registry.findConflict(candidate)
    const { slug, path, name, status = null } = candidate
    const base = { kind, slug, path, name, status }
    const created = { ...base, action: 'create' as const, as: name, newSlug: slug, reason: NEW, id: null }
    const step: Step = !conflict
      ? created
      : (strategy === 'skip' && !conflict.isGone) || candidate.isUnique
        ? {
            ...base,
            action: 'skip',
            as: conflict.name,
            newSlug: conflict.slug,
            reason: conflict.reason,
            id: conflict.id,
          }
        : { ...created, action: 'rename', ...freeNameOf(candidate, registry), reason: conflict.reason }
    if (step.action !== 'skip') registry.add(step.newSlug, step.as)
    steps.push(step)
    return step
  }

  if (include.company) {
    steps.push(planCompany(content, target))
    if (target.mode === 'new_company') noteDocuments(content, steps)
  }
  if (include.company || include.issues) {
    for (const { name } of content.labels) {
      add('label', { slug: name.toLowerCase(), name, path: null, isUnique: true }, existing.labels)
    }
  }
  if (include.skills) {
    for (const skill of content.skills) {
      const isIdentical = existing.skillRows.some((row) => row.slug === skill.slug && row.digest === skill.digest)
      add('skill', { ...skill, path: `skills/${skill.slug}/SKILL.md`, isUnique: isIdentical }, existing.skills)
    }
  }
  if (include.agents) {
    const status = (agent: PackageAgent) =>
      target.companyId === null
        ? caller.type === 'agent'
          ? 'pending_approval'
          : 'idle'
        : statusOfHire(ctx, caller, target.companyId, newAgentOf(agent, caller))
    for (const agent of content.agents) {
      const path = `agents/${agent.slug}/AGENTS.md`
      const step = add('agent', { ...agent, path, status: status(agent) }, existing.agents)
      if (step.action !== 'skip') warnings.push(...warningsOf(agent, path, existing.hasCeo))
    }
    for (const team of content.teams) add('team', { ...team, path: `teams/${team.slug}/TEAM.md` }, existing.teams)
  }
  if (include.company) {
    for (const { slug, title } of content.goals) {
      add('goal', { slug, name: title, path: 'COMPANY.md', isUnique: true }, existing.goals)
    }
  }
  if (include.projects) {
    for (const project of content.projects) {
      add('project', { ...project, path: `projects/${project.slug}/PROJECT.md` }, existing.projects)
    }
  }
  if (include.issues) {
    const projectOf = (slug: string | null) =>
      slug === null ? '' : (steps.find((step) => step.kind === 'project' && step.slug === slug)?.newSlug ?? '')
    for (const task of content.tasks) {
      const registry = existing.issuesOf(projectOf(task.project))
      add('issue', { slug: task.key, name: task.title, path: taskPath(task), status: task.status }, registry)
    }
    for (const routine of content.routines) {
      add(
        'routine',
        { slug: routine.key, status: 'paused', name: routine.title, path: taskPath(routine) },
        existing.routines,
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
    reason: isNew ? NEW : 'An import does not change an existing company.',
    id: target.companyId,
  }
}

/** Names the documents that a new company stores. */
function noteDocuments({ documents }: CompanyPackage, steps: Step[]): void {
  if (documents.size > 0) steps[0]!.reason = `${NEW} The company stores ${[...documents.keys()].join(', ')}.`
}

/** Returns the items that a person should check before an agent of a package runs. */
function warningsOf(agent: PackageAgent, path: string, hasCeo: boolean): PackageWarning[] {
  const { adapterConfig, adapterType } = agent
  const shell = shellWarning(adapterType, adapterConfig)
  const required = agent.inputs.filter(({ kind, requirement }) => kind === 'secret' && requirement === 'required')
  const secrets = [...secretNames(adapterConfig), ...required.map(({ name }) => name)]
  const command = typeof adapterConfig.command === 'string' ? adapterConfig.command : undefined
  const warn = (code: string, message: string): PackageWarning => ({ code, path, message })
  return [
    ...(command?.startsWith('/')
      ? [warn('absolute_command', `The agent runs ${command}. Check that program before the agent runs.`)]
      : []),
    ...(command !== undefined ||
    adapterType === 'process' ||
    adapterType === 'http' ||
    adapterConfig.extraArgs ||
    adapterConfig.mcpServers
      ? [warn('names_what_runs', 'The package decides which program the agent runs, or which URL receives its wakes.')]
      : []),
    ...(shell === undefined ? [] : [warn('shell', shell)]),
    ...(secrets.length > 0
      ? [warn('needs_secret', `The agent needs secrets, which a package does not contain: ${secrets.join(', ')}.`)]
      : []),
    ...(agent.role === 'ceo' && hasCeo
      ? [warn('second_ceo', 'The company already has a CEO. This agent gets the same permissions.')]
      : []),
  ]
}

/** Warns about tasks of agents that wait for approval: they take no issue. */
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
      message: `${task.assignee} is pending approval and cannot be assigned issues. Assign the issue after the approval.`,
    }))
}
