import type { Include } from '../read/include.ts'
import type { CompanyPackage, PackageAgent } from '../read/package.ts'
import { taskPath } from '../read/package-layout.ts'
import type { PackageWarning } from '../source/warning.ts'

/**
 * Reduces a package to the included parts and, if files are selected, to the
 * entities of those files. The rest contains no dangling references: an agent
 * reports to its nearest selected manager.
 */
export function selectEntities(
  content: CompanyPackage,
  include: Include,
  selected?: ReadonlySet<string>,
): CompanyPackage {
  const keeps = (path: string) => selected === undefined || selected.has(path)
  const agents = content.agents.filter((agent) => include.agents && keeps(`agents/${agent.slug}/AGENTS.md`))
  const skills = content.skills.filter((skill) => include.skills && keeps(`skills/${skill.slug}/SKILL.md`))
  const projects = content.projects.filter(
    (project) => include.projects && keeps(`projects/${project.slug}/PROJECT.md`),
  )
  const tasks = content.tasks.filter((task) => include.issues && keeps(taskPath(task)))
  const routines = content.routines.filter((routine) => include.issues && keeps(taskPath(routine)))
  const teams = content.teams.filter((team) => include.agents && keeps(`teams/${team.slug}/TEAM.md`))
  const goals = include.company && keeps('COMPANY.md') ? content.goals : []

  const has = (things: readonly { slug: string }[]) => {
    const slugs = new Set(things.map((thing) => thing.slug))
    return (slug: string) => slugs.has(slug)
  }
  const [hasAgent, hasSkill, hasProject, hasGoal] = [has(agents), has(skills), has(projects), has(goals)]
  const taskKeys = new Set(tasks.map((task) => task.key))
  const agentOrNone = (slug: string | null) => (slug !== null && hasAgent(slug) ? slug : null)
  const usedLabels = new Set([...tasks, ...routines].flatMap((task) => task.labels))
  const isWhole = include.company && selected === undefined

  return {
    company: include.company ? content.company : { ...content.company, ...NOTHING_OWN },
    goals: goals.map((goal) => ({ ...goal, owner: agentOrNone(goal.owner) })),
    labels: content.labels.filter((label) => isWhole || usedLabels.has(label.name)),
    skills,
    agents: agents.map((agent) => ({
      ...agent,
      reportsTo: nearestManager(content.agents, agent, hasAgent),
      skills: agent.skills.filter(hasSkill),
    })),
    teams: teams.map((team) => ({
      ...team,
      manager: agentOrNone(team.manager),
      agents: team.agents.filter(hasAgent),
      skills: team.skills.filter(hasSkill),
    })),
    projects: projects.map((project) => ({
      ...project,
      lead: agentOrNone(project.lead),
      goals: project.goals.filter(hasGoal),
    })),
    tasks: tasks.map((task) => ({
      ...task,
      assignee: agentOrNone(task.assignee),
      goal: task.goal !== null && hasGoal(task.goal) ? task.goal : null,
      parent: task.parent !== null && taskKeys.has(task.parent) ? task.parent : null,
      blockedBy: task.blockedBy.filter((key) => taskKeys.has(key)),
    })),
    routines: routines.map((routine) => ({
      ...routine,
      assignee: agentOrNone(routine.assignee),
      project: routine.project !== null && hasProject(routine.project) ? routine.project : null,
      goal: routine.goal !== null && hasGoal(routine.goal) ? routine.goal : null,
      parent: routine.parent !== null && taskKeys.has(routine.parent) ? routine.parent : null,
    })),
    documents: include.company ? content.documents : new Map(),
  }
}

/** Warns of each selected routine without its parent issue, because the parent describes the purpose of its issues. */
export function partedRoutines(whole: CompanyPackage, selection: CompanyPackage): PackageWarning[] {
  const hadParent = new Set(whole.routines.filter(({ parent }) => parent !== null).map(({ key }) => key))
  return selection.routines
    .filter(({ key, parent }) => parent === null && hadParent.has(key))
    .map((routine) => ({
      code: 'left_out',
      path: taskPath(routine),
      message: 'Its parent issue is not in the package. The routine is exported without a parent.',
    }))
}

/** The fields of a package without a company, which has no COMPANY.md. */
const NOTHING_OWN = {
  name: null,
  description: null,
  brandColor: null,
  budgetMonthlyCents: 0,
  requireBoardApprovalForNewAgents: false,
}

function nearestManager(
  all: readonly PackageAgent[],
  agent: PackageAgent,
  isThere: (slug: string) => boolean,
): string | null {
  let at = agent.reportsTo
  while (at !== null && !isThere(at)) at = all.find((other) => other.slug === at)?.reportsTo ?? null
  return at
}
