import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { FileContent } from '../../http/file-content.ts'

const url = v.pipe(v.string(), v.maxLength(2_000, 'must be at most 2,000 characters'))
const ref = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(250, 'must be at most 250 characters'))))
const folder = v.optional(
  v.nullable(v.pipe(v.string(), v.maxLength(300), v.description('The folder of the package in the repository.'))),
)

/** The source of a package, in a request body. */
export const PackageSource = v.variant('type', [
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
export type PackageSource = v.InferOutput<typeof PackageSource>
