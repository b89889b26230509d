import type { Findings } from './fields.ts'
import type { CompanyPackage, PackageAgent, PackageRoutine } from './package.ts'
import { taskPath } from './package-layout.ts'
import type { ReadAgent } from './read-people.ts'

/**
 * Validates and resolves the references within a package. A team assigns its
 * manager to its agents without one. An unknown agent or a cycle is a problem;
 * a skill from elsewhere is a warning.
 */
export function checkReferences(content: CompanyPackage, findings: Findings): void {
  const problem = (path: string, message: string) => void findings.problems.push({ path, message })
  const agents = new Set(content.agents.map((agent) => agent.slug))
  const unknown = (path: string, field: string, slug: string | null) => {
    if (slug !== null && !agents.has(slug))
      problem(path, `${field} names the agent ${slug}, which the package does not contain`)
  }
  followTeams(content)
  const ceos = content.agents.filter((agent) => agent.role === 'ceo')
  for (const other of ceos.slice(1)) {
    problem(`agents/${other.slug}/AGENTS.md`, `has the role ceo, like ${ceos[0]!.slug}; a company has one CEO`)
  }
  for (const agent of content.agents) unknown(`agents/${agent.slug}/AGENTS.md`, 'reportsTo', agent.reportsTo)
  for (const team of content.teams) unknown(`teams/${team.slug}/TEAM.md`, 'manager', team.manager)
  for (const project of content.projects) unknown(`projects/${project.slug}/PROJECT.md`, 'owner', project.lead)
  for (const goal of content.goals) unknown(`goal ${goal.slug}`, 'owner', goal.owner)
  for (const task of content.tasks) unknown(taskPath(task), 'assignee', task.assignee)
  for (const routine of content.routines) unknown(taskPath(routine), 'assignee', routine.assignee)

  const projects = new Set(content.projects.map((project) => project.slug))
  for (const task of [...content.tasks, ...content.routines]) {
    if (task.project === null || projects.has(task.project)) continue
    findings.warnings.push({
      code: 'unknown',
      path: taskPath(task),
      message: `There is no project ${task.project}. The task has no project.`,
    })
    task.project = null
  }
  settleGoals(content, findings)
  settleTasks(content, problem)
  settleRoutines(content, findings)
  const circle = findCircle(
    content.agents,
    (agent) => agent.slug,
    (agent) => agent.reportsTo,
  )
  if (circle) problem(`agents/${circle[0]}/AGENTS.md`, `reportsTo forms a cycle: ${circle.join(' -> ')}`)
  noteUnknownSkills(content, findings)
  for (const team of content.teams) {
    const missing = team.agents.filter((slug) => !agents.has(slug))
    if (missing.length === 0) continue
    const message = `The package does not contain these members: ${missing.join(', ')}.`
    findings.warnings.push({ code: 'unknown', path: `teams/${team.slug}/TEAM.md`, message })
    team.agents = team.agents.filter((slug) => agents.has(slug))
  }
}

function followTeams({ agents, teams }: CompanyPackage): void {
  for (const team of teams) {
    for (const agent of agents as ReadAgent[]) {
      if (agent.saysManager || agent.reportsTo !== null || agent.slug === team.manager) continue
      if (team.agents.includes(agent.slug)) agent.reportsTo = team.manager
    }
  }
}

function settleGoals({ goals, projects, tasks }: CompanyPackage, findings: Findings): void {
  const known = new Set(goals.map((goal) => goal.slug))
  for (const task of tasks) {
    if (task.goal === null || known.has(task.goal)) continue
    const message = `There is no goal ${task.goal}; the task is for none.`
    findings.warnings.push({ code: 'unknown', path: taskPath(task), message })
    task.goal = null
  }
  for (const project of projects) {
    const unknown = project.goals.filter((slug) => !known.has(slug))
    if (unknown.length === 0) continue
    const message = `There are no goals ${unknown.join(', ')}; the project serves the others.`
    findings.warnings.push({ code: 'unknown', path: `projects/${project.slug}/PROJECT.md`, message })
  }
  for (const goal of goals) {
    if (goal.parent === null || known.has(goal.parent)) continue
    findings.problems.push({
      path: `goal ${goal.slug}`,
      message: `its parent ${goal.parent} is not a goal of the package`,
    })
  }
  for (const project of projects) project.goals = project.goals.filter((slug) => known.has(slug))
  const circle = findCircle(
    goals,
    (goal) => goal.slug,
    (goal) => goal.parent,
  )
  if (circle) findings.problems.push({ path: `goal ${circle[0]}`, message: `forms a cycle: ${circle.join(' -> ')}` })
}

function settleTasks({ tasks }: CompanyPackage, problem: (path: string, message: string) => void): void {
  const byKey = new Map(tasks.map((task) => [task.key, task]))
  for (const task of tasks) {
    const resolve = (ref: string) => keyMeant(ref, task, byKey)
    for (const ref of [...task.blockedBy, ...(task.parent === null ? [] : [task.parent])]) {
      if (resolve(ref) === undefined)
        problem(taskPath(task), `names the task ${ref}, which the package does not contain`)
    }
    task.parent = task.parent === null ? null : (resolve(task.parent) ?? null)
    task.blockedBy = task.blockedBy.flatMap((ref) => resolve(ref) ?? [])
  }
  const circle =
    findCircle(
      tasks,
      (task) => task.key,
      (task) => task.parent,
    ) ?? findBlockerCircle(tasks)
  if (circle) problem(taskPath(byKey.get(circle[0]!)!), `forms a cycle: ${circle.join(' -> ')}`)
}

/**
 * Returns the key of the task that another task refers to. A task of the same
 * project may be referred to by its slug alone.
 */
function keyMeant(
  ref: string,
  { project }: { project: string | null },
  tasks: ReadonlyMap<string, unknown>,
): string | undefined {
  return [ref, `${project}/${ref}`].find((key) => tasks.has(key))
}

/** Removes unknown references of routines: a routine can run without its parent and goal. */
function settleRoutines({ goals, tasks, routines }: CompanyPackage, findings: Findings): void {
  const byKey = new Map(tasks.map((task) => [task.key, task]))
  const unknown = (routine: PackageRoutine, message: string) =>
    void findings.warnings.push({ code: 'unknown', path: taskPath(routine), message })
  for (const routine of routines) {
    const { goal, parent } = routine
    if (goal !== null && !goals.some(({ slug }) => slug === goal)) {
      unknown(routine, `There is no goal ${goal}. The routine has no goal.`)
      routine.goal = null
    }
    routine.parent = parent && (keyMeant(parent, routine, byKey) ?? null)
    if (parent !== routine.parent && routine.parent === null) {
      unknown(routine, `There is no task ${parent}. The routine has no parent issue.`)
    }
  }
}

/** Follows each entity to its parent, and returns the first cycle. */
function findCircle<T>(
  things: readonly T[],
  keyOf: (thing: T) => string,
  aboveOf: (thing: T) => string | null,
): string[] | undefined {
  const above = new Map(things.map((thing) => [keyOf(thing), aboveOf(thing)]))
  const safe = new Set<string>()
  for (const start of above.keys()) {
    const way: string[] = []
    for (let at: string | null | undefined = start; at != null && !safe.has(at); at = above.get(at)) {
      if (way.includes(at)) return [...way.slice(way.indexOf(at)), at]
      way.push(at)
    }
    for (const key of way) safe.add(key)
  }
  return undefined
}

function findBlockerCircle(tasks: CompanyPackage['tasks']): string[] | undefined {
  const open = new Map(tasks.map((task) => [task.key, new Set(task.blockedBy)]))
  for (;;) {
    const free = [...open].filter(([, blockers]) => [...blockers].every((key) => !open.has(key)))
    if (free.length === 0) return open.size === 0 ? undefined : [...open.keys()].slice(0, 10)
    for (const [key] of free) open.delete(key)
  }
}

function noteUnknownSkills({ agents, skills }: CompanyPackage, findings: Findings): void {
  const known = new Set(skills.map((skill) => skill.slug))
  const missing = (agent: PackageAgent) => agent.skills.filter((slug) => !known.has(slug))
  for (const agent of agents.filter((agent) => missing(agent).length > 0)) {
    const names = missing(agent).slice(0, 50).join(', ')
    const message = `The package does not contain these skills: ${names}. The agent has those of them that the company has.`
    findings.warnings.push({ code: 'unknown', path: `agents/${agent.slug}/AGENTS.md`, message })
  }
}
