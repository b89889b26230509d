import { compare } from '../../platform/compare.ts'
import type { Context } from '../../platform/context.ts'
import { numbered, slugOf } from '../../platform/url-key.ts'
import type { GoalRow } from '../../work/goal/goal.ts'
import { findRelations } from '../../work/issue/relations.ts'
import { withParts } from '../../work/project/queries.ts'
import { listAllProjects, listOpenIssues } from '../company/queries.ts'
import type { PackageGoal, PackageProject, PackageTask } from '../read/package.ts'
import { starterStatus } from '../read/read-work.ts'
import type { PackageWarning } from '../source/warning.ts'
import type { Clean } from './clean.ts'

/**
 * Collects goals, parents before children and otherwise by age, so that an
 * import which creates them in this order keeps it.
 */
export function collectGoals(rows: readonly GoalRow[], agents: ReadonlyMap<string, string>, clean: Clean) {
  const ids = new Set(rows.map((row) => row.id))
  const children = Map.groupBy(rows, (row) => (row.parent_id && ids.has(row.parent_id) ? row.parent_id : ''))
  const ordered: GoalRow[] = []
  const open = [...(children.get('') ?? [])].reverse()
  for (let row = open.pop(); row; row = open.pop()) {
    ordered.push(row)
    open.push(...[...(children.get(row.id) ?? [])].reverse())
  }
  const choose = uniqueSlugs('goal')
  const slugs = new Map(ordered.map((row) => [row.id, choose(row.title)]))
  const goals = ordered.map(
    (row): PackageGoal => ({
      slug: slugs.get(row.id)!,
      title: row.title,
      description: clean(row.description, 'COMPANY.md'),
      level: row.level,
      status: row.status,
      parent: (row.parent_id && slugs.get(row.parent_id)) ?? null,
      owner: (row.owner_agent_id && agents.get(row.owner_agent_id)) ?? null,
    }),
  )
  return { goals, slugs }
}

/**
 * Returns a function that chooses slugs which are unique among its results. No
 * slug is a number alone: a JavaScript object would sort such keys first.
 */
function uniqueSlugs(fallback: string) {
  const taken = new Set<string>()
  // The next number for each slug, because a hundred thousand issues may have the same title.
  const counts = new Map<string, number>()
  return (name: string): string => {
    const stem = slugOf(/^\d+$/.test(slugOf(name)) ? `${fallback} ${name}` : name) || fallback
    let count = counts.get(stem) ?? 1
    while (taken.has(numbered(stem, count))) count++
    counts.set(stem, count)
    taken.add(numbered(stem, count))
    return numbered(stem, count)
  }
}

export function collectProjects(
  ctx: Context,
  companyId: string,
  around: {
    slugs: ReadonlyMap<string, string>
    goals: ReadonlyMap<string, string>
    clean: Clean
    warnings: PackageWarning[]
  },
) {
  const rows = listAllProjects(ctx.db, companyId).filter((row) => row.archived_at === null)
  const slugs = new Map(rows.map((row) => [row.id, row.url_key]))
  const projects = withParts(ctx.db, rows).map((project): PackageProject => {
    const path = `projects/${project.urlKey}/PROJECT.md`
    const places = [...project.workspaces].sort((a, b) => Number(b.isPrimary) - Number(a.isPrimary))
    if (places.some((place) => place.repoUrl === null)) {
      around.warnings.push({
        code: 'left_out',
        path,
        message: 'A workspace that is a folder of this machine is not exported.',
      })
    }
    return {
      slug: project.urlKey,
      name: project.name,
      description: around.clean(project.description, path),
      status: project.status,
      lead: (project.leadAgentId && around.slugs.get(project.leadAgentId)) ?? null,
      targetDate: project.targetDate,
      goals: project.goalIds.flatMap((id) => around.goals.get(id) ?? []),
      workspaces: places.flatMap(({ name, repoUrl, repoRef }) =>
        repoUrl === null ? [] : [{ name, repoUrl, repoRef }],
      ),
    }
  })
  return { projects: projects.sort((a, b) => compare(a.slug, b.slug)), slugs }
}

/**
 * Returns a function that chooses the keys of tasks, unique in their project. A
 * package contains routines as tasks too, and an issue has the title of its
 * routine.
 */
export function taskSlugs() {
  const choosers = new Map<string, (name: string) => string>()
  return (project: string | null, title: string) => {
    const choose = choosers.get(project ?? '') ?? uniqueSlugs('task')
    choosers.set(project ?? '', choose)
    const slug = choose(title)
    return { project, slug, key: project === null ? slug : `${project}/${slug}` }
  }
}

/** Collects the issues that are not done or cancelled as starter tasks, by their numbers, and their keys by id. */
export function collectTasks(
  ctx: Context,
  companyId: string,
  around: {
    slugs: ReadonlyMap<string, string>
    projects: ReadonlyMap<string, string>
    clean: Clean
    chooseSlug: ReturnType<typeof taskSlugs>
  },
): { tasks: PackageTask[]; keys: ReadonlyMap<string, string> } {
  const rows = listOpenIssues(ctx.db, companyId)
  const relationsOf = findRelations(ctx.db, rows)
  const places = new Map(
    rows.map((row) => {
      const project = (row.project_id && around.projects.get(row.project_id)) ?? null
      return [row.id, around.chooseSlug(project, row.title)] as const
    }),
  )
  const tasks = rows.map((row): PackageTask => {
    const place = places.get(row.id)!
    const { labels, blockedBy } = relationsOf(row.id)
    return {
      ...place,
      title: row.title,
      description: around.clean(row.description, `tasks of ${place.project ?? 'no project'}`),
      assignee: (row.assignee_agent_id && around.slugs.get(row.assignee_agent_id)) ?? null,
      status: starterStatus(row.status),
      priority: row.priority,
      labels: labels.map((label) => label.name).sort(compare),
      parent: (row.parent_id && places.get(row.parent_id)?.key) ?? null,
      blockedBy: blockedBy.flatMap((blocker) => places.get(blocker.id)?.key ?? []).sort(compare),
    }
  })
  return { tasks, keys: new Map([...places].map(([id, { key }]) => [id, key])) }
}
