import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { listTemplateNames, readTemplate } from '../source/templates.ts'
import { readPackage } from './read-package.ts'

/** A bundled package from which a user can create a company. */
export const Template = v.strictObject({
  name: v.pipe(v.string(), v.description('The name for an import with source type `template`.')),
  title: v.string(),
  description: v.nullable(v.string()),
  agents: v.array(
    v.strictObject({
      slug: v.string(),
      name: v.string(),
      title: v.nullable(v.string()),
      role: v.string(),
      reportsTo: v.nullable(v.string()),
    }),
  ),
  projects: field.integer,
  issues: field.integer,
  skills: field.integer,
})

/** Lists the bundled templates in the order of their names. */
export async function listTemplates(): Promise<v.InferOutput<typeof Template>[]> {
  const names = await listTemplateNames()
  return Promise.all(
    names.map(async (name) => {
      const { company, agents, projects, tasks, skills } = readPackage(await readTemplate(name)).content
      return {
        name,
        title: company.name ?? name,
        description: company.description,
        agents: agents.map(({ slug, name, title, role, reportsTo }) => ({ slug, name, title, role, reportsTo })),
        projects: projects.length,
        issues: tasks.length,
        skills: skills.length,
      }
    }),
  )
}
