import { compare } from '../../platform/compare.ts'
import type { ReadContext } from '../../platform/context.ts'
import { numbered, slugOf } from '../../platform/url-key.ts'
import type { GoalRow } from '../../work/goal/goal.ts'
import type { IssueRow } from '../../work/issue/issue.ts'
import { findRelations } from '../../work/issue/relations.ts'
import { withParts } from '../../work/project/queries.ts'
import type { KeptOf, KeptPart } from '../company/kept.ts'
import { listAllProjects } from '../company/queries.ts'
import type { PackageGoal, PackageProject, PackageTask } from '../read/package.ts'
import { starterStatus } from '../read/read-work.ts'
import type { PackageWarning } from '../source/warning.ts'
import type { Cleaner } from './clean.ts'

/**
 * Collects goals, parents before children and otherwise by age. An import that
 * creates them in this order preserves it.
 */
export function collectGoals(
  rows: readonly GoalRow[],
  { slugs: agents, keptOf, clean, cleanKept }: { slugs: ReadonlyMap<string, string>; keptOf: KeptOf } & Cleaner,
) {
  const ids = new Set(rows.map((row) => row.id))
  const children = Map.groupBy(rows, (row) => (row.parent_id && ids.has(row.parent_id) ? row.parent_id : ''))
  const ordered: GoalRow[] = []
  const open = [...(children.get('') ?? [])].reverse()
  for (let row = open.pop(); row; row = open.pop()) {
    ordered.push(row)
    open.push(...[...(children.get(row.id) ?? [])].reverse())
  }
  const choose = uniqueSlugs('goal', reservedSlugs(ordered, keptOf))
  const slugs = new Map(ordered.map((row) => [row.id, choose(row.title, keptOf(row.id).slug)]))
  const goals = ordered.map(
    (row): PackageGoal => ({
      slug: slugs.get(row.id)!,
      title: row.title,
      description: clean(row.description, 'COMPANY.md'),
      level: row.level,
      status: row.status,
      parent: (row.parent_id && slugs.get(row.parent_id)) ?? null,
      owner: (row.owner_agent_id && agents.get(row.owner_agent_id)) ?? null,
      kept: cleanKept(keptOf(row.id), 'COMPANY.md'),
    }),
  )
  return { goals, slugs }
}

/** Returns the slugs that entities had in their package. No other entity receives one of them. */
const reservedSlugs = (rows: readonly { id: string }[], keptOf: KeptOf): ReadonlySet<string> =>
  new Set(rows.flatMap((row) => keptOf(row.id).slug ?? []))

/**
 * Returns a function that chooses slugs which are unique among its results. No
 * slug is a number alone: a JavaScript object would sort such keys first. A
 * wanted slug is used if it is free.
 */
function uniqueSlugs(fallback: string, reserved: ReadonlySet<string>) {
  const taken = new Set<string>()
  // The next number for each slug, because a hundred thousand issues may have the same title.
  const counts = new Map<string, number>()
  return (name: string, wanted: string | null | undefined): string => {
    if (wanted && !taken.has(wanted)) {
      taken.add(wanted)
      return wanted
    }
    const stem = slugOf(/^\d+$/.test(slugOf(name)) ? `${fallback} ${name}` : name) || fallback
    let count = counts.get(stem) ?? 1
    while (taken.has(numbered(stem, count)) || reserved.has(numbered(stem, count))) count++
    counts.set(stem, count)
    taken.add(numbered(stem, count))
    return numbered(stem, count)
  }
}

export function collectProjects(
  ctx: ReadContext,
  companyId: string,
  around: {
    slugs: ReadonlyMap<string, string>
    goals: ReadonlyMap<string, string>
    keptOf: KeptOf
    warnings: PackageWarning[]
  } & Cleaner,
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
    const variables = Object.keys(project.env)
    if (variables.length > 0) {
      const message = `The environment of the project is not exported: ${variables.slice(0, 50).join(', ')}.`
      around.warnings.push({ code: 'left_out', path, message })
    }
    if (project.placement !== null) {
      const message = `The placement ${project.placement} belongs to this instance and is not exported.`
      around.warnings.push({ code: 'left_out', path, message })
    }
    const stored = around.keptOf(project.id)
    return {
      slug: project.urlKey,
      name: project.name,
      ...withSummary(around.clean(project.description, path), stored),
      status: project.status,
      lead: (project.leadAgentId && around.slugs.get(project.leadAgentId)) ?? null,
      targetDate: project.targetDate,
      goals: project.goalIds.flatMap((id) => around.goals.get(id) ?? []),
      workspaces: places.flatMap(({ name, repoUrl, repoRef, isolation, setupCommand, cleanupCommand }) => {
        if (repoUrl === null) return []
        const commands = around.cleanFields({ setupCommand, cleanupCommand }, path)
        return [{ name, repoUrl, repoRef, isolation, setupCommand: null, cleanupCommand: null, ...commands }]
      }),
      kept: around.cleanKept(stored, path),
    }
  })
  return { projects: projects.sort((a, b) => compare(a.slug, b.slug)), slugs }
}

/** Splits a description into its summary and the rest, as its file had them, if it still begins with the summary. */
export const withSummary = (description: string | null, { summary = null }: KeptPart) => ({
  summary: summary !== null && description !== null && isBeginning(summary, description) ? summary : null,
  description,
})

const isBeginning = (summary: string, description: string) =>
  description === summary || description.startsWith(`${summary}\n\n`)

/**
 * Returns a function that chooses the keys of tasks, unique in their project. A
 * package contains routines as tasks too, and an issue has the title of its
 * routine.
 */
export function taskSlugs(rows: readonly { id: string }[], keptOf: KeptOf) {
  const reserved = reservedSlugs(rows, keptOf)
  const choosers = new Map<string, ReturnType<typeof uniqueSlugs>>()
  return (project: string | null, title: string, id: string) => {
    const choose = choosers.get(project ?? '') ?? uniqueSlugs('task', reserved)
    choosers.set(project ?? '', choose)
    const slug = choose(title, keptOf(id).slug)
    return { project, slug, key: project === null ? slug : `${project}/${slug}` }
  }
}

/** Collects the issues that are not done or cancelled as starter tasks, by their numbers, and their keys by id. */
export function collectTasks(
  ctx: ReadContext,
  rows: readonly IssueRow[],
  around: {
    slugs: ReadonlyMap<string, string>
    projects: ReadonlyMap<string, string>
    goals: ReadonlyMap<string, string>
    keptOf: KeptOf
    chooseSlug: ReturnType<typeof taskSlugs>
  } & Cleaner,
): { tasks: PackageTask[]; keys: ReadonlyMap<string, string> } {
  const relationsOf = findRelations(ctx.db, rows)
  const places = new Map(
    rows.map((row) => {
      const project = (row.project_id && around.projects.get(row.project_id)) ?? null
      return [row.id, around.chooseSlug(project, row.title, row.id)] as const
    }),
  )
  const tasks = rows.map((row): PackageTask => {
    const place = places.get(row.id)!
    const { labels, blockedBy } = relationsOf(row.id)
    return {
      ...place,
      title: row.title,
      ...withSummary(around.clean(row.description, `tasks of ${place.project ?? 'no project'}`), around.keptOf(row.id)),
      assignee: (row.assignee_agent_id && around.slugs.get(row.assignee_agent_id)) ?? null,
      status: starterStatus(row.status),
      priority: row.priority,
      labels: labels.map((label) => label.name).sort(compare),
      parent: (row.parent_id && places.get(row.parent_id)?.key) ?? null,
      goal: (row.goal_id && around.goals.get(row.goal_id)) ?? null,
      billingCode: row.billing_code,
      blockedBy: blockedBy.flatMap((blocker) => places.get(blocker.id)?.key ?? []).sort(compare),
      kept: around.cleanKept(around.keptOf(row.id), `tasks of ${place.project ?? 'no project'}`),
    }
  })
  return { tasks, keys: new Map([...places].map(([id, { key }]) => [id, key])) }
}
