import * as v from 'valibot'
import * as field from '../../http/fields.ts'

/** A file of a package in JSON: its text, or its bytes in base64. */
export const FileContent = v.union(
  [v.string(), v.strictObject({ encoding: v.literal('base64'), data: v.pipe(v.string(), v.base64('must be base64')) })],
  'must be a text or { "encoding": "base64", "data" }',
)
export type FileContent = v.InferOutput<typeof FileContent>

const url = v.pipe(v.string(), v.maxLength(2_000, 'must be at most 2,000 characters'))
const ref = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(250, 'must be at most 250 characters'))))
const folder = v.optional(
  v.nullable(v.pipe(v.string(), v.maxLength(300), v.description('The folder of the package in the repository.'))),
)

/** Where a package comes from. */
export const Source = v.variant('type', [
  v.strictObject({
    type: v.literal('github'),
    url: v.pipe(url, v.description('https://github.com/OWNER/REPO, or with /tree/REF/FOLDER.')),
    ref,
    path: folder,
  }),
  v.strictObject({
    type: v.literal('git'),
    url: v.pipe(url, v.description('An https URL of a repository.')),
    ref,
    path: folder,
  }),
  v.strictObject({
    type: v.literal('inline'),
    files: v.record(v.string(), FileContent),
    rootPath: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(300)))),
  }),
  v.strictObject({
    type: v.literal('template'),
    name: v.pipe(field.reference, v.description('One of GET /api/templates.')),
  }),
])
export type Source = v.InferOutput<typeof Source>

/** What of a company goes through; what is not said does, except issues in an export. */
export const Include = v.strictObject({
  company: v.optional(v.boolean()),
  agents: v.optional(v.pipe(v.boolean(), v.description('With their teams and the skills.'))),
  projects: v.optional(v.boolean()),
  issues: v.optional(v.boolean()),
})
export type Include = Required<{ [K in keyof v.InferOutput<typeof Include>]: boolean }>

const target = v.variant('mode', [
  v.strictObject({
    mode: v.literal('existing_company'),
    companyId: v.optional(v.pipe(field.reference, v.description('Default: the company of the path.'))),
  }),
  v.strictObject({
    mode: v.literal('new_company'),
    newCompanyName: v.optional(v.nullable(v.pipe(field.name, v.description("Default: the package's own name.")))),
  }),
])

export const ImportBody = v.strictObject({
  source: Source,
  include: v.optional(Include),
  target,
  collisionStrategy: v.optional(
    v.pipe(
      v.picklist(['rename', 'skip', 'replace']),
      v.description(
        'What to do with a thing whose slug or name is taken. Default rename; replace is refused with 422.',
      ),
    ),
  ),
  planHash: v.optional(
    v.pipe(
      field.reference,
      v.description('As the preview gave it: the import is refused with 409 when it would do anything else by now.'),
    ),
  ),
})
export type ImportBody = v.InferOutput<typeof ImportBody>

export const KINDS = ['company', 'label', 'skill', 'agent', 'team', 'goal', 'project', 'issue', 'routine'] as const
export type Kind = (typeof KINDS)[number]
export const ACTIONS = ['create', 'rename', 'skip'] as const

export const Warning = v.strictObject({ code: v.string(), path: v.nullable(v.string()), message: v.string() })

const Entity = v.strictObject({
  kind: v.picklist(KINDS),
  slug: v.pipe(v.string(), v.description('Of a task below a project: `<project>/<slug>`.')),
  path: v.nullable(v.string()),
  name: v.pipe(v.string(), v.description('As the package has it.')),
  action: v.picklist(ACTIONS),
  as: v.pipe(v.string(), v.description('The name that it has, or will have, in the company.')),
  status: v.pipe(v.nullable(v.string()), v.description('What an agent or an issue begins as.')),
  reason: v.string(),
  id: v.pipe(
    v.nullable(field.id),
    v.description('Of what is there: of what was skipped, and after the import of all.'),
  ),
})
export type PlannedEntity = v.InferOutput<typeof Entity>

const counts = { create: v.number(), rename: v.number(), skip: v.number() }

const Input = v.strictObject({
  agent: v.string(),
  name: v.string(),
  kind: v.picklist(['secret', 'plain']),
  requirement: v.picklist(['required', 'optional']),
  description: v.nullable(v.string()),
})

/** What an import will do, or did. */
export const ImportPlan = v.strictObject({
  package: v.strictObject({
    name: v.nullable(v.string()),
    description: v.nullable(v.string()),
    version: v.nullable(v.string()),
    license: v.nullable(v.string()),
    source: v.string(),
    commit: v.nullable(v.string()),
  }),
  target: v.strictObject({
    mode: v.picklist(['existing_company', 'new_company']),
    companyId: v.nullable(field.id),
    companyName: v.string(),
  }),
  collisionStrategy: v.picklist(['rename', 'skip']),
  entities: v.array(Entity),
  counts: v.strictObject({ ...counts, byKind: v.record(v.string(), v.strictObject(counts)) }),
  inputs: v.pipe(v.array(Input), v.description('Environment variables that agents need; set them after the import.')),
  warnings: v.array(Warning),
  planHash: v.string(),
})
export type ImportPlan = v.InferOutput<typeof ImportPlan>
