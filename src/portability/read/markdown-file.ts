import { compareNaturally } from '../../platform/compare.ts'
import { type SourceFiles, textOf } from '../../platform/source/files.ts'
import { readFrontmatter, YamlFault } from '../../platform/source/yaml.ts'
import { type Fields, type Findings, readFields, toSlug } from './fields.ts'

/** A parsed markdown file of a package. Its folder determines the slug. */
export interface MarkdownFile {
  path: string
  slug: string
  /** The slug in the frontmatter, if it differs. References may use it. */
  alias: string | null
  fields: Fields
  body: string
  findings: Findings
}

/** The maximum length of a file's body in characters, as for any text of the API. */
const MAX_BODY = 100_000

/**
 * Reads all markdown files whose path matches a pattern. The first group of
 * the pattern is the folder that determines the slug.
 */
export function readMarkdownFiles(files: SourceFiles, pattern: RegExp, findings: Findings): MarkdownFile[] {
  const seen = new Map<string, string>()
  return [...files.keys()]
    .filter((path) => pattern.test(path))
    .sort(compareNaturally)
    .flatMap((path) => {
      const folder = pattern.exec(path)![1]!
      const file = readMarkdownFile(files, path, toSlug(folder), findings)
      if (!file) return []
      const declared = toSlug(file.fields.line('slug') ?? '')
      if (declared && file.slug && declared !== file.slug) {
        const message = `The slug is ${file.slug}, the name of the folder. References to ${declared} are followed.`
        findings.warnings.push({ code: 'slug', path, message })
      }
      const slug = file.slug || toSlug(file.fields.line('name') ?? '') || kindOfFolder(path)
      const scope = `${parentFolderOf(path)}/${slug}`
      const exported = `${scope}/${path.split('/').at(-1)}`
      if (exported !== path) {
        findings.warnings.push({ code: 'slug', path, message: `An export contains this file as ${exported}.` })
      }
      const other = seen.get(scope)
      seen.set(scope, path)
      if (other !== undefined) file.fields.problem(`has the same slug ${slug} as ${other}; rename one of them`)
      return [{ ...file, slug, alias: declared && declared !== slug ? declared : null }]
    })
}

/** Returns the folder that contains the folder of an entity. All skills are in one, also those in subfolders of it. */
const parentFolderOf = (path: string) =>
  path.startsWith('skills/') ? 'skills' : path.split('/').slice(0, -2).join('/')

/** Returns the default slug of an entity: `agents/🚀/AGENTS.md` without a name becomes the agent `agent`. */
const kindOfFolder = (path: string) => path.split('/').at(-3)!.replace(/s$/, '')

/** Reads one markdown file. Returns undefined if it does not exist or cannot be parsed, which is then a problem. */
export function readMarkdownFile(
  files: SourceFiles,
  path: string,
  slug: string,
  findings: Findings,
): MarkdownFile | undefined {
  const bytes = files.get(path)
  if (!bytes) return undefined
  const problem = (message: string) => void findings.problems.push({ path, message })
  const text = textOf(bytes)
  if (text === undefined) return problem('is not UTF-8 text, or contains NUL') ?? undefined
  try {
    const { matter, body, isRepaired } = readFrontmatter(text)
    if (isRepaired) {
      const message =
        'A value of the frontmatter is not YAML without quotes, for example because it contains `: `. It is read as text.'
      findings.warnings.push({ code: 'frontmatter', path, message })
    }
    if (body.length > MAX_BODY) return problem(`is longer than ${MAX_BODY} characters`) ?? undefined
    return { path, slug, alias: null, body, findings, fields: readFields(matter, path, findings) }
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    return problem(`its frontmatter ${error.message}`) ?? undefined
  }
}
