import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { FileContent } from '../../http/file-content.ts'
import { Include } from '../read/include.ts'
import { PackageWarning } from '../source/warning.ts'

const none = v.optional(
  v.pipe(
    v.array(v.string()),
    v.maxLength(0, 'must be empty: use selectedFiles'),
    v.description('Must be empty if it is set.'),
  ),
)

/** Lists that clients of similar APIs always send. Their neutral value is accepted, and any other is refused. */
const neutral = {
  skills: none,
  projects: none,
  issues: none,
  projectIssues: none,
  expandReferencedSkills: v.optional(v.literal(false)),
}

export const ExportBody = v.strictObject({
  include: v.optional(v.pipe(Include, v.description('Default: everything except issues.'))),
  selectedFiles: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.maxLength(300))),
      v.maxLength(20_000),
      v.description(
        'Paths of the preview. The package contains only these files. The path of a task includes its issue.',
      ),
    ),
  ),
  ...neutral,
})
export type ExportBody = v.InferOutput<typeof ExportBody>

const Manifest = v.strictObject({
  schema: v.string(),
  name: v.string(),
  slug: v.string(),
  description: v.nullable(v.string()),
  include: v.required(Include),
  agents: v.array(v.strictObject({ slug: v.string(), name: v.string(), path: v.string() })),
  projects: v.array(v.strictObject({ slug: v.string(), name: v.string(), path: v.string() })),
  skills: v.array(v.strictObject({ slug: v.string(), name: v.string(), path: v.string() })),
  issues: v.array(v.strictObject({ slug: v.string(), name: v.string(), path: v.string() })),
})

const CompanyExport = {
  rootPath: v.pipe(v.string(), v.description('The name of the folder to unpack the package into.')),
  manifest: Manifest,
  files: v.record(v.string(), FileContent),
  warnings: v.array(PackageWarning),
}

export const ExportedPackage = v.strictObject(CompanyExport)
export type ExportedPackage = v.InferOutput<typeof ExportedPackage>

export const ExportPreview = v.strictObject({
  ...CompanyExport,
  fileInventory: v.array(
    v.strictObject({ path: v.string(), kind: v.string(), bytes: field.integer, reason: v.string() }),
  ),
  counts: v.strictObject({
    files: field.integer,
    bytes: field.integer,
    agents: field.integer,
    teams: field.integer,
    projects: field.integer,
    issues: field.integer,
    routines: field.integer,
    goals: field.integer,
    skills: field.integer,
  }),
})
export type ExportPreview = v.InferOutput<typeof ExportPreview>
