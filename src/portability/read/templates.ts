import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { listTemplateNames, readTemplate } from '../source/templates.ts'
import { READ_LIMITS, readPackageJob } from './read-package.ts'

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

type Templates = v.InferOutput<typeof Template>[]

let templates: Promise<Templates> | undefined

/** Lists the bundled templates in the order of their names. They are read once, in a thread: this takes 80 ms or more. */
export function listTemplates(ctx: Context): Promise<Templates> {
  templates ??= readTemplates(ctx).catch((error) => {
    templates = undefined
    throw error
  })
  return templates
}

async function readTemplates(ctx: Context): Promise<Templates> {
  const read: Templates = []
  for (const name of await listTemplateNames()) {
    const source = { files: await readTemplate(name), folder: null }
    const { content } = await ctx.reader.runApart(readPackageJob, source, READ_LIMITS)
    const { company, agents, projects, tasks, skills } = content
    read.push({
      name,
      title: company.name ?? name,
      description: company.description,
      agents: agents.map(({ slug, name, title, role, reportsTo }) => ({ slug, name, title, role, reportsTo })),
      projects: projects.length,
      issues: tasks.length,
      skills: skills.length,
    })
  }
  return read
}
