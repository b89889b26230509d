import * as v from 'valibot'

/** The parts of a company that an import or export includes. An omitted part is included, except issues in an export. */
export const Include = v.strictObject({
  company: v.optional(v.boolean()),
  agents: v.optional(v.pipe(v.boolean(), v.description('With their teams.'))),
  skills: v.optional(v.pipe(v.boolean(), v.description('Default: as `agents`.'))),
  projects: v.optional(v.boolean()),
  issues: v.optional(v.boolean()),
})
export type Include = Required<{ [K in keyof v.InferOutput<typeof Include>]: boolean }>

/** Returns the parts that a request includes; an omitted part has its default. */
export function includeOf(want: v.InferOutput<typeof Include> | undefined, defaults: { issues: boolean }): Include {
  const { company = true, agents = true, skills = agents, projects = true, issues = defaults.issues } = want ?? {}
  return { company, agents, skills, projects, issues }
}
