import * as v from 'valibot'

/** Something that a person should know before they import or share a package. */
export const PackageWarning = v.strictObject({
  code: v.string(),
  path: v.pipe(
    v.nullable(v.string()),
    v.description('The file to which the warning refers. Null for the whole package.'),
  ),
  message: v.string(),
})
export type PackageWarning = v.InferOutput<typeof PackageWarning>
