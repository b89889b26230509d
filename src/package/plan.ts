import { statusOfHire } from '../agent/hire.ts'
import type { Context } from '../context.ts'
import { listGoals } from '../goal/queries.ts'
import type { Caller } from '../http/caller.ts'
import { listLabels } from '../label/queries.ts'
import { taskPath } from './check.ts'
import type { Include, Kind, PlannedEntity } from './import-body.ts'
import { newAgentOf } from './new-agent.ts'
import type { CompanyPackage, PackageAgent, PackageWarning } from './package.ts'
import { listAgentNames, listAllProjects, listOpenIssues, listParts } from './queries.ts'
import { listCompanyRoutines } from './routines.ts'
import { type CompanySkill, digestOfSkill, listCompanySkills } from './skills.ts'

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

/**
 * Decides for each thing of a package what becomes of it: it is created,
 * created under another name, or skipped for what is there. Changes nothing.
 */
export function planSteps(ctx: Context, caller: Caller, { content, include, target, strategy }: PlanInput): Steps {
  const there = whatIsThere(ctx, target.companyId)
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

interface Thing {
  slug: string
  name: string
  path: string | null
  status?: string | null
  /** Whether a second one would make no sense, whatever the strategy. */
  onlyOnce?: boolean
}

const NEW = 'There is none of this name yet.'

interface Row {
  id: string | null
  slug: string
  name: string
  /** Whether it only holds its slug: nothing can refer to it any more. */
  isGone?: boolean
}

interface Holder extends Row {
  reason: string
}

/** The slugs and names that are taken, of things of one kind. */
interface Taken {
  find(thing: Thing): Holder | undefined
  take(slug: string, name: string): void
}

function createTaken(kind: string, rows: readonly Row[], by: 'slug' | 'name' | 'both'): Taken {
  const slugs = new Map<string, Row>()
  const names = new Map<string, Row>()
  const note = (row: Row) => {
    slugs.set(row.slug, slugs.get(row.slug) ?? row)
    names.set(row.name.toLowerCase(), names.get(row.name.toLowerCase()) ?? row)
  }
  for (const row of rows) note(row)
  const own = new Set<string>()
  return {
    find({ slug, name }) {
      const bySlug = by === 'name' ? undefined : slugs.get(slug)
      // Two things of one package may have the same name, if that is how it has them.
      const byName = by === 'slug' || own.has(name.toLowerCase()) ? undefined : names.get(name.toLowerCase())
      const row = bySlug ?? byName
      return row && { ...row, reason: `The ${kind} ${bySlug ? bySlug.slug : row.name} is here already.` }
    },
    take(slug, name) {
      if (!names.has(name.toLowerCase())) own.add(name.toLowerCase())
      note({ id: null, slug, name })
    },
  }
}

/** The first of `slug-2`, `Name 2` and so on of which both are free. */
function freeNameOf(thing: Thing, taken: Taken): { as: string; newSlug: string } {
  for (let n = 2; ; n++) {
    const as = `${[...thing.name].slice(0, 190).join('')} ${n}`
    const newSlug = `${thing.slug}-${n}`
    if (!taken.find({ ...thing, slug: newSlug, name: as })) return { as, newSlug }
  }
}

/** What a company has of each kind; of one that does not exist yet, what no company may have. */
function whatIsThere(ctx: Context, companyId: string | null) {
  const ofCompany = <T>(list: (id: string) => T[]): T[] => (companyId === null ? [] : list(companyId))
  const agents = ofCompany((id) => listAgentNames(ctx.db, id))
  const projects = ofCompany((id) => listAllProjects(ctx.db, id))
  const issues = ofCompany((id) => listOpenIssues(ctx.db, id))
  const skillRows = ofCompany((id): CompanySkill[] => listCompanySkills(ctx, id))
  const labels = ofCompany((id) => listLabels(ctx.db, { companyId: id, after: undefined, limit: 10_000 }))
  const slugged = (row: { id: string; name: string; url_key: string }) => ({ ...row, slug: row.url_key })
  const issuesOf = new Map<string, Taken>()
  return {
    hasCeo: agents.some((agent) => agent.role === 'ceo' && agent.status !== 'terminated'),
    skillRows,
    agents: createTaken(
      'agent',
      [
        ...agents.map((agent) =>
          agent.status === 'terminated' ? { ...slugged(agent), name: '', isGone: true } : slugged(agent),
        ),
        // A word of the API's own: `GET /api/agents/me`.
        { id: null, slug: 'me', name: '', isGone: true },
      ],
      'both',
    ),
    projects: createTaken('project', projects.map(slugged), 'both'),
    skills: createTaken('skill', skillRows, 'slug'),
    labels: createTaken(
      'label',
      labels.map((label) => ({ ...label, slug: label.name.toLowerCase() })),
      'name',
    ),
    goals: createTaken(
      'goal',
      ofCompany((id) => listGoals(ctx.db, { companyId: id })).map(({ id, title }) => ({
        id,
        slug: title,
        name: title,
      })),
      'name',
    ),
    teams: createTaken(
      'team',
      ofCompany((id) => listParts(ctx.db, id))
        .filter((part) => part.kind === 'team')
        .map((part) => ({ id: null, slug: part.path.split('/')[1]!, name: part.path.split('/')[1]! })),
      'slug',
    ),
    routines: createTaken(
      'routine',
      ofCompany((id) => listCompanyRoutines(ctx, id)).map(({ id, title }) => ({ id, slug: title, name: title })),
      'name',
    ),
    /** Issues are told apart by their titles, within their project. */
    issuesOf(projectSlug: string): Taken {
      const known = issuesOf.get(projectSlug)
      if (known) return known
      const projectId = projects.find((project) => project.url_key === projectSlug)?.id ?? null
      const own =
        projectSlug !== '' && projectId === null ? [] : issues.filter((issue) => issue.project_id === projectId)
      const taken = createTaken(
        'issue',
        own.map(({ id, title }) => ({ id, slug: title, name: title })),
        'name',
      )
      issuesOf.set(projectSlug, taken)
      return taken
    },
  }
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
