import type { MarkdownFile } from './markdown-file.ts'
import type { CompanyPackage } from './package.ts'

/**
 * Replaces references that use the slug of a frontmatter by the slug of the
 * folder. A slug that is the folder of another entity refers to that entity.
 */
export function followAliases(content: CompanyPackage, files: readonly MarkdownFile[]): void {
  const resolverOf = (folder: RegExp) => {
    const own = files.filter(({ path }) => folder.test(path))
    const slugs = new Set(own.map(({ slug }) => slug))
    const aliases = new Map(own.flatMap(({ alias, slug }) => (alias && !slugs.has(alias) ? [[alias, slug]] : [])))
    return <T extends string | null>(ref: T) => (ref === null ? ref : (aliases.get(ref) ?? ref)) as T
  }
  const [agent, skill, project] = [/^agents\//, /^skills\//, /^projects\/[^/]+\/PROJECT\.md$/].map(resolverOf)
  for (const one of content.agents) {
    one.reportsTo = agent!(one.reportsTo)
    one.skills = one.skills.map(skill!)
  }
  for (const team of content.teams) {
    team.manager = agent!(team.manager)
    team.agents = team.agents.map(agent!)
    team.skills = team.skills.map(skill!)
  }
  for (const one of content.projects) one.lead = agent!(one.lead)
  for (const goal of content.goals) goal.owner = agent!(goal.owner)
  for (const task of [...content.tasks, ...content.routines]) {
    task.assignee = agent!(task.assignee)
    task.project = project!(task.project)
  }
}
