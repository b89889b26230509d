import type { Context } from '../../platform/context.ts'
import { listGoals } from '../../work/goal/queries.ts'
import { listLabels } from '../../work/label/queries.ts'
import { listAgentNames, listAllProjects, listOpenIssues, listParts } from '../company/queries.ts'
import { listCompanyRoutines } from '../company/routines.ts'
import { type CompanySkill, listCompanySkills } from '../company/skills.ts'

/** A thing of a package that may meet one of the company. */
export interface Thing {
  slug: string
  name: string
  path: string | null
  status?: string | null
  /** Whether a second one would make no sense, whatever the strategy. */
  onlyOnce?: boolean
}

interface Row {
  id: string | null
  slug: string
  name: string
  /** Whether it only holds its slug: nothing can refer to it any more. */
  isGone?: boolean
}

export interface Holder extends Row {
  reason: string
}

/** The slugs and names that are taken, of things of one kind. */
export interface Taken {
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
export function freeNameOf(thing: Thing, taken: Taken): { as: string; newSlug: string } {
  for (let n = 2; ; n++) {
    const as = `${[...thing.name].slice(0, 190).join('')} ${n}`
    const newSlug = `${thing.slug}-${n}`
    if (!taken.find({ ...thing, slug: newSlug, name: as })) return { as, newSlug }
  }
}

/** What a company has of each kind; of one that does not exist yet, what no company may have. */
export function loadExisting(ctx: Context, companyId: string | null) {
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
