import * as v from 'valibot'
import { bodyJob } from '../../http/body-job.ts'
import * as field from '../../http/fields.ts'
import { Include } from '../read/include.ts'
import { PackageSource } from '../source/source-body.ts'
import { PackageWarning } from '../source/warning.ts'

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
  source: PackageSource,
  include: v.optional(Include),
  agents: v.optional(v.pipe(v.literal('all'), v.description('Must be `all` if it is set.'))),
  target,
  collisionStrategy: v.optional(
    v.pipe(
      v.picklist(['rename', 'skip', 'replace']),
      v.description(
        'What to do with a record whose slug or name exists already. Default rename; replace is refused with 422.',
      ),
    ),
  ),
  fetchSkills: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Whether to download the texts of skills that are references, from public GitHub repositories. Default true.',
      ),
    ),
  ),
  planHash: v.optional(
    v.pipe(
      field.reference,
      v.description(
        'The planHash of the preview. The import is refused with 409 if its plan differs from that preview.',
      ),
    ),
  ),
})
export type ImportBody = v.InferOutput<typeof ImportBody>

/** A file is one field as text, and three in base64. */
export const IMPORT_BODY_FIELDS = 12_000

export const importBodyJob = bodyJob('parse-import-body', ImportBody, IMPORT_BODY_FIELDS)

export const KINDS = ['company', 'label', 'skill', 'agent', 'team', 'goal', 'project', 'issue', 'routine'] as const
export type Kind = (typeof KINDS)[number]
export const ACTIONS = ['create', 'rename', 'skip'] as const

const Entity = v.strictObject({
  kind: v.picklist(KINDS),
  slug: v.pipe(v.string(), v.description('A task of a project has `<project>/<slug>`.')),
  path: v.nullable(v.string()),
  name: v.pipe(v.string(), v.description('The name in the package.')),
  action: v.picklist(ACTIONS),
  as: v.pipe(v.string(), v.description('The name in the company, now or after the import.')),
  status: v.pipe(v.nullable(v.string()), v.description('The status that a new agent, issue or routine starts with.')),
  reason: v.string(),
  id: v.pipe(
    v.nullable(field.id),
    v.description('The id of the existing record. Null in a preview for records that are not skipped.'),
  ),
})
export type PlannedEntity = v.InferOutput<typeof Entity>

const counts = { create: field.integer, rename: field.integer, skip: field.integer }

const Input = v.strictObject({
  agent: v.string(),
  name: v.string(),
  kind: v.picklist(['secret', 'plain']),
  requirement: v.picklist(['required', 'optional']),
  description: v.nullable(v.string()),
  default: v.optional(v.pipe(v.string(), v.description('What the package suggests for a plain variable.'))),
})

/** The plan of an import, before or after it ran. */
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
  inputs: v.pipe(
    v.array(Input),
    v.description('Environment variables that the agents need. Set them after the import.'),
  ),
  warnings: v.array(PackageWarning),
  planHash: v.string(),
})
export type ImportPlan = v.InferOutput<typeof ImportPlan>
