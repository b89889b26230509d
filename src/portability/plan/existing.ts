import type { ReadContext } from '../../platform/context.ts'
import { listGoals } from '../../work/goal/queries.ts'
import { listLabels } from '../../work/label/queries.ts'
import { listAgentNames, listAllProjects, listOpenIssues, listParts } from '../company/queries.ts'
import { listCompanyRoutines } from '../company/routines.ts'
import { listSkillNames } from '../company/skills.ts'
import { createNameRegistry, type NameRegistry } from './name-registry.ts'

/** Loads the entities of a company by kind. A company that does not exist yet has only reserved names. */
export function loadExisting(ctx: ReadContext, companyId: string | null) {
  const ofCompany = <T>(list: (id: string) => T[]): T[] => (companyId === null ? [] : list(companyId))
  const agents = ofCompany((id) => listAgentNames(ctx.db, id))
  const projects = ofCompany((id) => listAllProjects(ctx.db, id))
  const issues = ofCompany((id) => listOpenIssues(ctx.db, id))
  const skillRows = ofCompany((id) => listSkillNames(ctx.db, id))
  const labels = ofCompany((id) => listLabels(ctx.db, { companyId: id }))
  const slugged = (row: { id: string; name: string; url_key: string }) => ({ ...row, slug: row.url_key })
  const issuesOf = new Map<string, NameRegistry>()
  return {
    hasCeo: agents.some((agent) => agent.role === 'ceo' && agent.status !== 'terminated'),
    skillRows,
    agents: createNameRegistry(
      'agent',
      [
        ...agents.map((agent) =>
          agent.status === 'terminated' ? { ...slugged(agent), name: '', isGone: true } : slugged(agent),
        ),
        // Reserved by `GET /api/agents/me`.
        { id: null, slug: 'me', name: '', isGone: true },
      ],
      'both',
    ),
    projects: createNameRegistry('project', projects.map(slugged), 'both'),
    skills: createNameRegistry('skill', skillRows, 'slug'),
    labels: createNameRegistry(
      'label',
      labels.map((label) => ({ ...label, slug: label.name.toLowerCase() })),
      'name',
    ),
    goals: createNameRegistry(
      'goal',
      ofCompany((id) => listGoals(ctx.db, { companyId: id })).map(({ id, title }) => ({
        id,
        slug: title,
        name: title,
      })),
      'name',
    ),
    teams: createNameRegistry(
      'team',
      ofCompany((id) => listParts(ctx.db, id))
        .filter((part) => part.kind === 'team')
        .map((part) => ({ id: null, slug: part.path.split('/')[1]!, name: part.path.split('/')[1]! })),
      'slug',
    ),
    routines: createNameRegistry(
      'routine',
      ofCompany((id) => listCompanyRoutines(ctx, id)).map(({ id, title }) => ({ id, slug: title, name: title })),
      'name',
    ),
    /** Issues are identified by their titles, within their project. */
    issuesOf(projectSlug: string): NameRegistry {
      const known = issuesOf.get(projectSlug)
      if (known) return known
      const projectId = projects.find((project) => project.url_key === projectSlug)?.id ?? null
      const own =
        projectSlug !== '' && projectId === null ? [] : issues.filter((issue) => issue.project_id === projectId)
      const registry = createNameRegistry(
        'issue',
        own.map(({ id, title }) => ({ id, slug: title, name: title })),
        'name',
      )
      issuesOf.set(projectSlug, registry)
      return registry
    },
  }
}
