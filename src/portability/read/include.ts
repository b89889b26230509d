import * as v from 'valibot'

/** The parts of a company that an import or export includes. An omitted part is included, except issues in an export. */
export const Include = v.strictObject({
  company: v.optional(v.boolean()),
  agents: v.optional(v.pipe(v.boolean(), v.description('With their teams and the skills.'))),
  projects: v.optional(v.boolean()),
  issues: v.optional(v.boolean()),
})
export type Include = Required<{ [K in keyof v.InferOutput<typeof Include>]: boolean }>
